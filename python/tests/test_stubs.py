"""The stubs say what there is: every class, function, method and parameter, and no others."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

from conftest import ROOT

STUBS = sorted(path.stem for path in (ROOT / "python/buoy").glob("*.pyi") if path.stem != "__init__")


def parameters(node):
    a = node.args
    return ([one.arg for one in a.posonlyargs + a.args], [one.arg for one in a.kwonlyargs], a.vararg is not None, a.kwarg is not None)


def of_runtime(function):
    kinds = inspect.Parameter
    found = inspect.signature(function).parameters.values()
    named = [p.name for p in found if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    return (named, [p.name for p in found if p.kind == kinds.KEYWORD_ONLY], any(p.kind == kinds.VAR_POSITIONAL for p in found),
            any(p.kind == kinds.VAR_KEYWORD for p in found))


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_its_module(name):
    module = importlib.import_module(f"buoy.{name}")
    stub = ast.parse((ROOT / f"python/buoy/{name}.pyi").read_text())
    source = ast.parse((ROOT / f"python/buoy/{name}.py").read_text())
    declared = {}
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            declared[node.name] = node
    for node in source.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert node.name in declared, f"{name}.pyi lacks {node.name}"
    for one, node in declared.items():
        assert hasattr(module, one), f"{name}.py has no {one}"
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == of_runtime(getattr(module, one)), one
            continue
        kind = getattr(module, one)
        methods = [child for child in node.body if isinstance(child, ast.FunctionDef)]
        for child in methods:
            found = inspect.getattr_static(kind, child.name)
            if not isinstance(found, property):
                assert parameters(child) == of_runtime(getattr(found, "__func__", found)), f"{one}.{child.name}"
        names = {child.name for child in methods} | {
            target.id for child in node.body if isinstance(child, (ast.AnnAssign, ast.Assign))
            for target in ([child.target] if isinstance(child, ast.AnnAssign) else child.targets)}
        public = {attribute for attribute in vars(kind) if not attribute.startswith("_")}
        assert public <= names, f"{name}.pyi: {one} lacks {public - names}"


def test_every_public_name_has_a_docstring():
    import buoy
    for name in buoy.__all__:
        assert inspect.getdoc(getattr(buoy, name)), name
    for kind in (buoy.Model, buoy.Steps, buoy.Step, buoy.Run, buoy.Trace, buoy.Evaluation):
        for name, member in vars(kind).items():
            if callable(member) and not name.startswith("_"):
                assert inspect.getdoc(member), f"{kind.__name__}.{name}"
