"""Which certificates are believed: by explicit path, whatever the environment says."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from app.errors import ToolError
from app.net.trust import Store, TlsSettings, Trust, TrustStore, system_store

HTTP = TlsSettings()


def trust(store: TrustStore, settings: TlsSettings = HTTP) -> Trust:
    return asyncio.run(store.trust(settings))


def paths(file: str, directory: str) -> ssl.DefaultVerifyPaths:
    return ssl.DefaultVerifyPaths("", "", "SSL_CERT_FILE", file, "SSL_CERT_DIR", directory)


def test_a_context_requires_a_certificate_and_checks_its_name(ca_file: str) -> None:
    built = trust(TrustStore(ca_file))

    assert built.store == ca_file
    assert (built.context.verify_mode, built.context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert built.context.hostname_checks_common_name is False
    assert len(built.context.get_ca_certs()) == 1


def test_a_context_is_built_once_for_each_list_of_protocols(ca_file: str) -> None:
    store = TrustStore(ca_file)

    async def contexts() -> list[Trust]:
        return [await store.trust(settings) for settings in (HTTP, HTTP, TlsSettings(("h2",)))]

    first, second, other = asyncio.run(contexts())

    assert first is second
    assert first is not other


def test_an_observer_has_a_context_of_its_own_that_accepts_everything(ca_file: str) -> None:
    store = TrustStore(ca_file)

    strict, observer = trust(store), trust(store, TlsSettings(verify="observe"))

    assert (strict.mode, observer.mode, observer.store) == ("strict", "observe", ca_file)
    assert (observer.context.verify_mode, observer.context.check_hostname) == (ssl.CERT_NONE, False)
    assert strict.context.verify_mode == ssl.CERT_REQUIRED


def test_the_store_for_later_verdicts_is_read_once_for_all_contexts(ca_file: str) -> None:
    store = TrustStore(ca_file)

    assert trust(store).later is trust(store, TlsSettings(verify="observe")).later


def test_two_first_calls_at_once_build_one_context(ca_file: str) -> None:
    store = TrustStore(ca_file)

    async def both() -> tuple[Trust, Trust]:
        return await asyncio.gather(store.trust(HTTP), store.trust(HTTP))

    first, second = asyncio.run(both())

    assert first is second


def test_the_environment_has_no_say(ca_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = trust(TrustStore()).store
    monkeypatch.setenv("SSL_CERT_FILE", ca_file)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys.log"))

    built = trust(TrustStore())

    assert built.store == system
    assert not built.context.keylog_filename
    assert "trustme" not in str(built.context.get_ca_certs())
    assert not (tmp_path / "keys.log").exists()


@pytest.mark.parametrize("content", [None, "no certificate\n"])
def test_a_store_that_cannot_be_read_is_our_own_fault(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)

    with pytest.raises(ToolError) as caught:
        trust(TrustStore(str(path)))

    assert (caught.value.code, caught.value.reason_code) == ("internal_error", "trust_store")
    assert str(path) in caught.value.message


def test_the_compiled_in_paths_come_first(tmp_path: Path) -> None:
    file, directory = tmp_path / "cert.pem", tmp_path / "certs"
    file.touch()
    directory.mkdir()
    (directory / "0.pem").touch()

    assert system_store(paths(str(file), str(directory))) == Store(str(file), str(directory))


@pytest.mark.parametrize("expected", ["bundle", "none"])
def test_without_them_the_bundle_of_a_distribution_is_taken(tmp_path: Path, expected: str) -> None:
    bundle = tmp_path / "bundle"
    if expected == "bundle":
        bundle.touch()
    (tmp_path / "empty").mkdir()

    stores = [
        system_store(paths(str(tmp_path / "missing"), str(tmp_path / name)), [str(bundle)])
        for name in ("empty", "missing")
    ]

    assert [store.name.rpartition("/")[2] for store in stores] == [expected, expected]


def test_a_machine_without_a_store_trusts_nothing() -> None:
    built = trust(TrustStore(system=Store(None, None)))

    assert (built.store, built.context.get_ca_certs()) == ("none", [])
