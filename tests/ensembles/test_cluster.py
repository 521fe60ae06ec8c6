"""Runs on a Dask cluster: the rows of local runs, whoever is killed, and refusals in words."""

import os
import signal
import subprocess
import sys
import time
from threading import Thread

import pytest
from problems.repeated import FRAME, Here

from hyloop.ensembles import Campaign, Plan, cluster
from hyloop.ensembles.cluster import DaskCluster
from hyloop.ensembles.identity import beside, identity
from hyloop.ensembles.there import named_files, run_there, sender
from hyloop.ensembles.work import tables
from hyloop.errors import BadInput, HyloopError

RUNS = [(f"sites.damper1.device.k={k} kN/mm", f"seed={seed}") for k in (1, 2, 3, 4) for seed in range(8)]
SHORTER = 2.0  # s, what a scheduler that is dead is waited for


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(FRAME, "utf-8")
    return file


@pytest.fixture(scope="module")
def workers():
    """Two processes of one thread on this machine."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as there:
        yield there


def sweep(path, folder, engine, runs=RUNS, progress=lambda done, all_, each: None):
    with Campaign.opened(Plan(path), folder, engine) as campaign:
        campaign.try_first(runs[0])
        return campaign.run(runs, progress)


def lines(folder):
    return (folder / "runs.jsonl").read_text("utf-8").splitlines()


@pytest.mark.slow
def test_rows_are_those_of_local_runs_also_where_a_worker_is_killed(path, tmp_path, workers):
    wanted = sweep(path, tmp_path / "here", Here())
    killed = []

    def kill(done, all_, each):
        if done > len(RUNS) // 3 and not killed:
            killed.append(next(iter(workers.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with DaskCluster(workers.scheduler_address) as engine:
        assert engine.workers == 1  # not known before it is asked for something
        rows = sweep(path, tmp_path / "there", engine, progress=kill)
        assert killed and rows == wanted
        assert {row.outcome for row in rows} == {"complete"}
        assert len(lines(tmp_path / "there")) == len(RUNS)  # none lost, none twice


@pytest.mark.slow
def test_a_scheduler_that_is_killed_stops_the_sweep_in_words_and_it_goes_on(path, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER", SHORTER)
    file, dask = tmp_path / "scheduler.json", [sys.executable, "-m", "distributed.cli"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    arguments = ["--scheduler-file", str(file)]
    scheduler = subprocess.Popen(
        [*dask[:2], "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", *arguments], **quiet
    )
    worker = subprocess.Popen(
        [*dask[:2], "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", *arguments], **quiet
    )
    try:
        address = address_in(file)
        stopped = []

        def kill(done, all_, each):
            if done > 3 and not stopped:
                stopped.append(done)
                scheduler.kill()

        with DaskCluster(address) as engine:
            wait_for_worker(engine)
            with pytest.raises(HyloopError, match="what has been run is kept"):
                sweep(path, tmp_path / "broken", engine, progress=kill)
        assert 0 < len(lines(tmp_path / "broken")) < len(RUNS)
        assert sweep(path, tmp_path / "broken", Here()) == sweep(path, tmp_path / "whole", Here())
        assert len(lines(tmp_path / "broken")) == len(RUNS)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def address_in(file):
    import json

    for _ in range(600):
        if file.exists() and file.stat().st_size:
            return json.loads(file.read_text("utf-8"))["address"]
        time.sleep(0.1)
    raise AssertionError("the scheduler did not start")


def wait_for_worker(engine):
    for _ in range(600):
        try:
            engine.executor().shutdown()
            return
        except BadInput as error:
            assert "has no workers" in str(error)
            time.sleep(0.2)
    raise AssertionError("the worker did not start")


def batch_of(path, runs=RUNS[:2]):
    with Campaign.opened(Plan(path), path.parent / "batch", Here()) as campaign:
        return campaign._batch({campaign.identity(run): run for run in runs})


def test_another_hyloop_is_refused(path):
    with pytest.raises(BadInput, match="has another hyloop"):
        run_there(sender()._replace(library="another"), batch_of(path), ())


def test_a_file_that_is_not_seen_is_a_row_that_is_run_again(tmp_path):
    record = tmp_path / "motion.csv"
    record.write_text("t,a\n" + "\n".join(f"{k / 100:.2f},{k % 7 / 7}" for k in range(300)), "utf-8")
    text = FRAME.replace('kind = "noise"', 'kind = "record"').replace('rms = "0.05 g"', 'file = "motion.csv"')
    text = text.replace('low = "0.3 Hz"\nhigh = "4 Hz"\n', 'unit = "m/s2"\n')
    path = tmp_path / "plan.toml"
    path.write_text(text, "utf-8")
    batch = batch_of(path)
    files = named_files(batch)
    assert files == (str(record),)
    assert [row.outcome for row in run_there(sender(), batch, files).rows] == ["complete"] * 2
    seen = record.read_bytes()
    record.write_bytes(seen.replace(b"0.0\n", b"0.5\n"))
    changed = run_there(sender(), batch, files).rows
    assert [row.outcome for row in changed] == ["unseen"] * 2 and "has not the same files" in changed[0].reason
    record.unlink()
    missing = run_there(sender(), batch, files).rows
    assert [row.outcome for row in missing] == ["unseen"] * 2 and "does not see" in missing[0].reason
    assert "motion.csv" in missing[0].reason
    record.write_bytes(seen)
    with Campaign.opened(Plan(path), path.parent / "batch", Here()) as campaign:
        campaign.journal.add(missing)
        assert [row.outcome for row in campaign.run(RUNS[:2])] == ["complete"] * 2


def test_names_are_relative_to_the_folder_of_the_sender(path, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    batch, by = batch_of(path)._replace(source="plan.toml"), sender()._replace(folder=str(tmp_path))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert {row.outcome for row in run_there(by, batch, ()).rows} == {"complete"}
    assert os.getcwd() == str(tmp_path / "elsewhere")


def test_two_threads_of_a_process_take_turns(path):
    """The rows are those of one thread after the other, though both share what a process keeps."""
    batch = batch_of(path, RUNS[:8])
    wanted, found = run_there(sender(), batch, ()).rows, {}
    parts = (batch._replace(runs=batch.runs[:4]), batch._replace(runs=batch.runs[4:]))
    threads = [Thread(target=lambda k=k: found.update({k: run_there(sender(), parts[k], ()).rows})) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] + found[1] == wanted


def test_the_identity_there_is_that_of_here(path):
    batch = batch_of(path)
    for key, overrides in batch.runs:
        assert identity(tables(batch.text), overrides, beside(batch.measures)) == key


@pytest.mark.slow
def test_no_scheduler_is_said(monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(HyloopError, match="no Dask scheduler answers"), DaskCluster(address) as engine:
            engine.executor()
