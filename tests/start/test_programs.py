"""Programs that the fork server starts."""

import pytest

from ops.fork_server import beat, dealers, forked_programs, signers

SOCKET = 7


@pytest.mark.parametrize(
    ("processes", "names"), [(1, ["Web"]), (3, ["Web", "Web 2", "Web 3"])], ids=["one process", "three processes"]
)
def test_web_has_as_many_processes_as_are_asked_for_on_one_socket(settings, processes, names):
    settings.WEB_PROCESSES = processes
    *webs, worker = forked_programs(SOCKET)
    assert [web.name for web in webs] == names
    assert [worker.name, beat().name] == ["Worker", "Beat"]
    assert all(web.arguments[web.arguments.index("--fd") + 1] == str(SOCKET) for web in webs)
    assert len({web.log for web in webs}) == processes


def test_only_a_demo_house_has_its_own_signer_and_dealer_and_they_get_no_secret(settings, monkeypatch):
    settings.DEALER_DIR = settings.VAR_DIR / "dealer"
    monkeypatch.setenv("SECRET_KEY", "not for the signer")
    (signer,), (dealer,) = signers(), dealers()
    for program in (signer, dealer):
        assert program.environment.keys() <= {"PATH", "LANG"}
    settings.SIGNER_DIR = settings.DEALER_DIR = None
    assert not [*signers(), *dealers()]
