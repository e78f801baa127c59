"""The shape of the code: every module has its test, its contract in a sentence, and a size one can read."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for package in ("app", "policy") for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
TEST_CODE = [*TESTS, *sorted((ROOT / "tests").rglob("conftest.py"))]
VAGUE = {"base", "common", "helper", "helpers", "lib", "manager", "misc", "tools_common", "util", "utils"}
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Modules that are a table with hardly any code: their length is that of what they list.
TABLES: dict[str, str] = {}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def only_exports(path: Path) -> bool:
    """An `__init__.py` without a definition of its own has nothing to test beside what it passes on."""
    return path.name == "__init__.py" and not any(isinstance(node, DEFINITIONS) for node in tree(path).body)


def mirror(path: Path) -> Path:
    """Where the unit tests of a module stand: `test_init.py` and `test_main.py` for those with underscores."""
    own = path.relative_to(ROOT)
    return ROOT / "tests" / "unit" / own.parent / f"test_{own.stem.strip('_')}.py"


def docstring_lines(module: ast.Module) -> set[int]:
    """The lines of every string that stands for itself, as docstrings do."""
    return {
        number
        for node in ast.walk(module)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def code_lines(path: Path) -> set[int]:
    """The lines that hold code: not blank, not a comment, not a docstring."""
    source = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    spans = [(token.start[0], token.end[0]) for token in tokens if token.type not in NO_CODE]
    return {line for first, last in spans for line in range(first, last + 1)} - docstring_lines(
        ast.parse(source)
    )


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The name and the number of code lines of each function of a module."""
    lines = code_lines(path)
    for node in ast.walk(tree(path)):
        if isinstance(node, FUNCTIONS):
            body = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            yield f"{name(path)}: {node.name}", len(lines.intersection(body))


def waits(node: ast.AST) -> bool:
    """A call of some `sleep` with anything but zero, which only lets others run."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    zero = [isinstance(argument, ast.Constant) and argument.value == 0 for argument in node.args]
    return called == "sleep" and zero != [True]


def replaces_our_code(node: ast.AST) -> bool:
    """An import of `unittest.mock` or of a plugin that does the same."""
    if isinstance(node, ast.Import):
        return any(alias.name in {"unittest.mock", "mock", "pytest_mock"} for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (
        node.module in {"unittest.mock", "mock", "pytest_mock"}
        or (node.module == "unittest" and any(alias.name == "mock" for alias in node.names))
    )


def does_not_run(node: ast.AST) -> bool:
    """A mark or call with which a test passes without having been run."""
    return isinstance(node, ast.Attribute) and node.attr in {"skip", "skipif", "xfail", "importorskip"}


def found(judge: object, paths: list[Path]) -> list[str]:
    """Where in `paths` the judge says yes, as `file:line`."""
    assert callable(judge)
    return [
        f"{name(path)}:{getattr(node, 'lineno', 0)}"
        for path in paths
        for node in ast.walk(tree(path))
        if judge(node)
    ]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_each_module_has_its_own_unit_test(path: Path) -> None:
    if only_exports(path):
        return

    assert mirror(path).is_file(), f"{name(mirror(path))} is missing"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_each_module_begins_with_its_contract(path: Path) -> None:
    documentation = ast.get_docstring(tree(path)) or ""

    assert documentation.partition("\n")[0].rstrip(".").count(" ") >= 2


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_module_is_too_long_to_read(path: Path) -> None:
    if name(path) in TABLES:
        return

    assert len(code_lines(path)) <= 300


def test_every_exempt_table_is_still_there() -> None:
    assert set(TABLES) <= {name(path) for path in MODULES}


def test_no_function_has_more_than_fifty_lines() -> None:
    long = [found for path in MODULES for found in functions(path) if found[1] > 50]

    assert long == []


def test_nine_functions_in_ten_fit_within_twenty_five_lines() -> None:
    sizes = [size for path in MODULES for _, size in functions(path)]

    assert sum(size <= 25 for size in sizes) >= 0.9 * len(sizes)


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name(path) for path in [*MODULES, *TESTS] if path.stem.removeprefix("test_") in VAGUE] == []


def test_no_test_folder_is_a_package() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_the_name_of_each_test_is_a_sentence() -> None:
    short = [
        f"{name(path)}: {node.name}"
        for path in TESTS
        for node in ast.walk(tree(path))
        if isinstance(node, FUNCTIONS) and node.name.startswith("test_") and node.name.count("_") < 3
    ]

    assert short == []


def test_each_unit_test_belongs_to_a_module() -> None:
    mirrors = {mirror(path) for path in MODULES}

    assert [
        name(path) for path in TESTS if (ROOT / "tests/unit") in path.parents and path not in mirrors
    ] == []


def test_no_test_sleeps() -> None:
    assert found(waits, TEST_CODE) == []


def test_no_test_replaces_our_own_code() -> None:
    assert found(replaces_our_code, TEST_CODE) == []


def test_no_test_passes_without_running() -> None:
    assert found(does_not_run, TEST_CODE) == []
