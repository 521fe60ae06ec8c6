"""What is typed: a file for each command, with its options and their help; light to import, so that --help is quick."""
