"""Networks to be trained: stacks of layers, and the compiled kernels of the LSTM."""
