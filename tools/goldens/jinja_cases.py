#!/usr/bin/env python3
"""Writes tests/data/text/jinja_cases.json.gz: small templates for every construct, as Jinja2 renders them.

    python3 tools/goldens/jinja_cases.py        (Debian: python3-jinja2)

A case that Jinja2 refuses is written with "refused" and must be refused by Buoy too.
"""

import gzip
import json
from pathlib import Path

from chat_environment import environment

MESSAGES = [{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi\n"},
            {"role": "assistant", "content": "<think>\na\n</think>\n\nHello"}, {"role": "user", "content": "é 中 🙂"}]
VARIABLES = {"messages": MESSAGES, "name": "Ada", "number": 7, "nothing": None, "yes": True, "half": 0.5,
             "list": [3, 1, 2], "words": ["pear", "Apple", "fig"], "empty": [],
             "table": {"b": 1, "a": [1, {"x": "y"}], "Items": None},
             "records": [{"k": 2, "t": "b", "in": {"v": 1}}, {"k": 1, "t": "a"}, {"k": 2, "t": "A"}],
             "quoted": "it's \"so\" \\ \t\u00ad\u200b\u00e9\x7f\U0001f642", "lines": "one\ntwo\r\n\nthree\n"}

CASES = """
a
{%- if yes %}
b
{% endif -%}
c
====
a

{% if yes %}
  b
{% endif %}

c
====
  {% if yes %}
    {{ name }}
  {% endif %}
end
====
x  {%+ if yes %}y{%+ endif %}
====
x {%- if yes +%}
y{% endif +%}

z
====
a {# note #} b
====
a
  {# note #}
b
====
a {#- note -#} b
====
line one
{# several
lines #}
line two
====
{% raw %}{{ name }} {% if %}{% endraw %}|
====
  {%- raw -%}  {{ x }}  {%- endraw -%}  end
====
x
  {% raw %}
y
  {% endraw %}
z
====
{{ '{{' }}{{ '%}' }}{{ "}}" }}
====
{{ {'a': {'b': 1}}['a']['b'] }}
====
{{ 'a' 'b' "c" }}
====
{{ 'tab\\tnl\\nq\\'d\\"\\\\ \\x41\\u00e9\\U0001F642\\101 \\z' }}
====
{{ "line
break" }}
====
{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }}
====
{{ 1.5 + 1 }} {{ 1e3 }} {{ 1.0 }} {{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e-5 }} {{ 123456789.125 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1_000 }}
====
{{ -number }} {{ +number }} {{ - 2 ** 2 }} {{ 2 - -1 }} {{ not number }} {{ -half }}
====
{{ 'a' ~ 1 ~ none ~ missing ~ true ~ 1.0 ~ [1] }}
====
{{ 'ab' * 3 }} {{ 2 * 'xy' }} {{ [1] * 2 }} {{ [1] + [2, 'a'] }} {{ (1,) + (2,) }} {{ 'a' * -1 }}|
====
{{ 'a' + 'b' + 'c' }} {{ '%s is %d%%' % ('x', 5) }} {{ '%s' % name }}
====
{{ 1 < 2 }} {{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' == 1 }} {{ none == none }}
====
{{ 1 != 2 }} {{ 'a' != 'a' }} {{ 2 >= 2 }} {{ 2 <= 1 }} {{ [1, [2]] == [1, [2]] }} {{ (1,) == [1] }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}
====
{{ 'a' in 'cat' }} {{ 'x' not in 'cat' }} {{ 1 in [1, 2] }} {{ 'b' in table }} {{ 'z' in table }} {{ 2 in (1, 2) }} {{ 'a' in missing }}
====
{{ 'a' if yes else 'b' }} {{ 'a' if nothing else 'b' }} {{ 'a' if nothing }}| {{ 1 if 0 else 2 if 0 else 3 }}
====
{{ yes and name }} {{ nothing or 'x' }} {{ yes or missing.bad }} {{ nothing and missing.bad }} {{ not yes or yes }} {{ not nothing and yes }}
====
{{ [1, 'a', none, true, 1.5] }} {{ (1, 'a') }} {{ (1,) }} {{ () }} {{ {'a': 1, 2: 'b', none: [1]} }} {{ [] }} {{ {} }}
====
{{ 1, 2 }}
====
{{ quoted }} {{ [quoted] }} {{ ["it's"] }} {{ ['a"b'] }}
====
{{ table }} {{ table.a }} {{ table['a'][1].x }} {{ table.missing }}| {{ table['missing'] }}|
====
{{ list[0] }} {{ list[-1] }} {{ list[9] }}| {{ list.0 }} {{ name[0] }} {{ name[-1] }} {{ name[7] }}| {{ 'é中🙂'[1] }}
====
{{ list[1:] }} {{ list[:-1] }} {{ list[::-1] }} {{ list[::2] }} {{ name[1:] }} {{ 'é中🙂x'[1:3] }} {{ name[::-1] }} {{ list[5:] }} {{ list[-2:9] }} {{ (1, 2, 3)[1:] }}
====
{{ messages[0].role }} {{ messages[0]['content'] }} {{ messages[1:] | length }} {{ messages[::-1][0].content }}
====
{{ missing }}|{{ missing is defined }} {{ name is defined }} {{ missing is undefined }} {{ missing is none }} {{ nothing is none }} {{ not missing }}
====
{{ missing | default('x') }} {{ nothing | default('x') }} {{ nothing | default('x', true) }} {{ '' | d('y', boolean=true) }} {{ missing | default }}|
====
{% for x in missing %}{{ x }}{% else %}none{% endfor %} {{ missing | length }} {{ missing | list }} {{ missing | join }}| {{ missing == other }} {{ missing | upper }}|
====
{{ 1 is number }} {{ 1.0 is number }} {{ true is number }} {{ 'a' is number }} {{ 1 is integer }} {{ true is integer }} {{ 1.5 is float }} {{ true is boolean }} {{ 'a' is string }} {{ 1 is string }}
====
{{ table is mapping }} {{ list is mapping }} {{ list is sequence }} {{ 'a' is sequence }} {{ table is sequence }} {{ 1 is sequence }} {{ list is iterable }} {{ table is iterable }} {{ 1 is iterable }} {{ missing is iterable }} {{ missing is sequence }}
====
{{ true is true }} {{ 1 is true }} {{ false is false }} {{ none is false }} {{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 2 is eq 2 }} {{ 2 is ne(2) }} {{ 1 is lt 2 }} {{ 2 is ge 2 }} {{ 'a' is in 'abc' }} {{ 1 is in [2] }}
====
{{ 1 is not none }} {{ name is not string }} {{ name is string and yes }} {{ 'abc' is lower }} {{ 'ABC' is upper }} {{ '1' is upper }} {{ none is sameas none }} {{ range is callable }}
====
{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}
====
{% for x in list %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {{ loop.cycle('a', 'b') }} {{ loop.depth }} {% endfor %}
====
{% for x in [1, 1, 2] %}{{ loop.changed(x) }} {% endfor %}
====
{% for x in list if x > 1 %}{{ loop.index }}/{{ loop.length }}={{ x }} {% else %}none{% endfor %}
====
{% for x in empty %}x{% else %}empty{% endfor %}
====
{% for k, v in table.items() %}{{ k }}={{ v }};{% endfor %} {% for k in table %}{{ k }}{% endfor %} {% for c in 'é中' %}{{ c }}.{% endfor %}
====
{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}
====
{% for x in [1, 2, 3, 4] %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 4 %}{% break %}{% endif %}{{ x }}{% endfor %}
====
{% for x in [1, 2] %}{% for y in 'ab' %}{{ loop.index }}{{ x }}{{ y }} {% endfor %}{{ loop.index }}{% endfor %}
====
{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}
====
{% for i in [1, 2] %}{% if i == 1 %}{% set x = 'set' %}{% endif %}{{ x }}|{% endfor %}{{ x }}
====
{% for i in [1, 2] %}{% if i == 1 %}{% set name = 'set' %}{% endif %}{{ name }}|{% endfor %}{{ name }}
====
{% if yes %}{% set x = 'in' %}{% endif %}{{ x }}
====
{% if nothing %}a{% elif number > 5 %}b{% else %}c{% endif %} {% if missing %}a{% elif missing %}b{% else %}c{% endif %}
====
{% set ns = namespace(n=0, found=false) %}{% for i in list %}{% set ns.n = ns.n + i %}{% if i == 2 %}{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.n }} {{ ns.found }} {{ ns.other }}|{{ ns['n'] }}
====
{% set a, b = 1, 'x' %}{{ a }}{{ b }} {% set t = 1, 2 %}{{ t }}
====
{% set block %}  {{ name }} !
{% endset %}[{{ block }}]
====
{% set block | trim | upper %}  {{ name }} {% set inner = 1 %}{% endset %}[{{ block }}]{{ inner }}
====
{% filter upper %}a {{ name }}{% endfilter %} {% filter replace('a', 'b') | trim %} aa {% endfilter %}|
====
{% with x = 1, y = name %}{{ x }}{{ y }}{% set x = 2 %}{{ x }}{% endwith %}{{ x }}|
====
{% macro greet(who, mark='!', end=mark) %}Hello {{ who }}{{ mark }}{{ end }}{% endmacro %}{{ greet('A') }} {{ greet('B', '?') }} {{ greet(mark='.', who='C', end='') }} {{ greet() }}
====
{% macro m(x) -%}
  {%- if x > 0 -%}{{ x }}{{ m(x - 1) }}{%- endif -%}
{%- endmacro %}{{ m(3) }}|{{ m(2) | length }}
====
{% macro show() %}{{ x }}{% endmacro %}{% set x = 'later' %}{{ show() }}{% for x in [1] %}{{ show() }}{% endfor %}
====
{% for i in [1, 2] %}{% macro inner(a) %}{{ i }}{{ a }}{{ loop.index }}{% endmacro %}{{ inner('x') }}{% endfor %}
====
{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% set z = 1 %}{% endgeneration %}{{ z }}{% endif %}{% endfor %}
====
{{ '  a b ' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ ' a' | upper }}|{{ 'AbC' | lower }}|{{ 'hELLO wORLD' | capitalize }}|{{ 'hello wORLD-foo (bar)' | title }}
====
{{ list | length }} {{ name | length }} {{ 'é中🙂' | length }} {{ table | count }} {{ list | first }} {{ list | last }} {{ empty | first }}| {{ name | first }} {{ name | last }} {{ table | list }}
====
{{ list | join }} {{ list | join(', ') }} {{ records | join('-', attribute='t') }} {{ 'abc' | join('.') }} {{ [none, true, 'x'] | join(' ') }}
====
{{ list | sort }} {{ list | sort(reverse=true) }} {{ words | sort }} {{ words | sort(case_sensitive=true) }} {{ records | sort(attribute='k') | map(attribute='t') | join }} {{ records | sort(true, attribute='k') | map(attribute='t') | join }}
====
{{ list | max }} {{ list | min }} {{ list | sum }} {{ words | max }} {{ records | sum(attribute='k') }} {{ empty | max }}| {{ [1, 1, 2] | unique | list }} {{ ['a', 'A', 'b'] | unique | join }}
====
{{ list | reverse | list }} {{ name | reverse }} {{ words | map('upper') | list }} {{ words | map('length') | list }} {{ records | map(attribute='in.v', default='-') | join(',') if false else '' }} {{ words | map('replace', 'e', 'E') | join(' ') }}
====
{{ records | selectattr('t', 'equalto', 'a') | list }} {{ records | rejectattr('k', 'eq', 2) | list }} {{ records | selectattr('in') | list | length }} {{ list | select('odd') | list }} {{ list | reject('gt', 1) | list }} {{ [0, 1, '', 'a'] | select | list }} {{ nothing | selectattr('x') | list }}
====
{{ messages | selectattr('role', 'in', ['user', 'system']) | map(attribute='role') | join(' ') }}
====
{{ table | dictsort }} {{ table | items | list }} {{ {'b': 1, 'A': 2} | dictsort(true) }} {{ {'b': 1, 'a': 2} | dictsort(by='value', reverse=true) }} {{ missing | items | list }}
====
{{ table | tojson }} {{ quoted | tojson }} {{ [1, 1.0, true, none, 'é'] | tojson }} {{ '<&>' | tojson }} {{ (1, 'a') | tojson }}
====
{{ table | tojson(indent=2) }} {{ [] | tojson(indent=2) }} {{ {'a': {}} | tojson(indent=1) }}
====
{{ quoted | tojson(ensure_ascii=true) }} {{ table | tojson(sort_keys=true) }} {{ [1, {'a': 2}] | tojson(separators=(',', ':')) }} {{ {1: 2, true: 3, none: 4, 1.5: 5} | tojson }} {{ 'a\\b\\f\\x01' | tojson }}
====
{{ 'a.b.c' | replace('.', '-') }} {{ 'aaa' | replace('a', 'b', 2) }} {{ 'ab' | replace('', '-') }} {{ 5 | replace(5, 6) }} {{ 5 | string + 'x' }} {{ 'x' | string }}
====
{{ lines | indent }} {{ lines | indent(2, true) }} {{ lines | indent(2, blank=true) }} {{ 'a\\nb' | indent('> ') }}|
====
{{ '42' | int }} {{ '4.9' | int }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ 4.9 | int }} {{ ' 5 ' | int }} {{ true | int }} {{ '1.5' | float }} {{ 'x' | float }} {{ 3 | float }} {{ '-3' | int }} {{ '+3' | int }} {{ '1e3' | float }}
====
{{ -3 | abs }} {{ -1.5 | abs }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 7 | round }} {{ 1.25 | round(1) }} {{ (-3) | abs }}
====
{{ '%s=%d' | format('a', 3) }} {{ '{} {}'.format(1, 'b') }} {{ '{0}{1}{0}'.format('x', 'y') }} {{ '{a}-{{}}'.format(a=2) }}
====
{{ 'a' | safe }} {{ ('a' | safe) ~ '<' }} {{ [1] | tojson | safe }}
====
{{ ' ab '.strip() }}|{{ 'xabx'.strip('x') }}|{{ 'xxa'.lstrip('x') }}|{{ 'axx'.rstrip('x') }}|{{ ' a '.rstrip() }}|{{ '\\n\\na\\n'.strip('\\n') }}|{{ '\u3000a\u2003'.strip() }}
====
{{ 'a,b,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b c '.split(none, 1) }} {{ ' a b c '.rsplit(maxsplit=1) }} {{ ''.split(',') }} {{ ''.split() }} {{ 'abc'.split('x')[-1] }}
====
{{ messages[2].content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') }}
====
{{ name.startswith('A') }} {{ name.endswith(('x', 'a')) }} {{ name.upper() }} {{ name.lower() }} {{ 'hello world'.title() }} {{ "it's a".title() }} {{ 'ABC dEF'.capitalize() }} {{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }}
====
{{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'abc'.find('x') }} {{ 'éabc'.find('b') }} {{ 'abcab'.count('ab') }} {{ 'abc'.index('b') }} {{ 'prefix-a'.removeprefix('prefix-') }} {{ 'a.txt'.removesuffix('.txt') }} {{ ', '.join(['a', 'b']) }} {{ lines.splitlines() }} {{ lines.splitlines(true) }}
====
{{ table.get('a') }} {{ table.get('x') }} {{ table.get('x', 5) }} {{ table.keys() | list }} {{ table.values() | list }} {{ table.items() | list }} {{ table.keys() }} {{ {'a': 1}.items() }} {{ table.copy() == table }} {{ list.index(1) }} {{ [1, 1].count(1) }}
====
{{ {'items': 5}['items'] }} {{ {'get': 5}.get('get') }} {{ {'items': 5}.items() | list }} {{ {}['keys'] is defined }}
====
{{ range(3) | list }} {{ range(1, 4) | list }} {{ range(5, 0, -2) | list }} {{ range(3) | length }} {{ range(3)[1] }} {{ range(0) | list }} {% for i in range(2) %}{{ i }}{% endfor %} {{ 2 in range(3) }}
====
{{ dict(a=1, b='x') }} {{ dict({'a': 1}, a=2) }}
====
{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%A, %B %-d, %y %j %e %a %I %p %%') }} {{ strftime_now is defined }}
====
{{ 'ÀÉ'.lower() }} {{ 'àé中'.upper() }} {{ 'Ünder'.capitalize() }} {{ 'ß'.lower() }}
====
{{ [1, 2, 3] | map('string') | join('+') }} {% set g = [1, 2] | map('string') %}{{ g | list }}{{ g | list }}
====
{{ (name ~ 'x') | length + 1 }} {{ 'a' ~ 'b' | upper }} {{ 1 ~ 2 + '3' }} {{ -1 | abs }} {{ not 'a' in 'b' }} {{ 'a' is string | string }}
====
{{ name.missing | default('x') }} {{ messages[0].tool_calls is defined }} {{ messages[0].tool_calls }}| {{ messages[0]['name'] or 'none' }}
====
{% set content = messages[0]['content'] | trim + '<end>' %}{{ content }}
====
{%- for message in messages -%}
    {%- if message['role'] == 'user' -%}
        {{- '[U] ' + message['content'] -}}
    {%- elif message.role == 'assistant' %}
        {{ message.content }}
    {%- endif %}
{%- endfor %}
====
{% if add_generation_prompt is defined and add_generation_prompt %}a{% else %}b{% endif %}
""".lstrip("\n")

REFUSED = """
{{ missing.attribute }}
{{ missing + 'a' }}
{{ missing() }}
{{ missing[0] }}
{{ missing < 1 }}
{{ missing | tojson }}
{{ missing | int }}
{{ missing | indent }}
{{ 5 | indent }}
{{ list | sort(reverse=missing) }}
{{ name.splitlines(missing) }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ none + 'a' }}
{{ 1 / 0 }}
{{ 1 % 0 }}
{{ 1 < 'a' }}
{{ 1 in 'a' }}
{{ 'a' in 1 }}
{{ {[1]: 2} }}
{{ number() }}
{{ number | length }}
{% for x in 5 %}{% endfor %}
{% for x in nothing %}{% endfor %}
{% for a, b in [[1, 2, 3]] %}{% endfor %}
{{ raise_exception('roles must alternate') }}
{{ list.append(1) }}
{{ table.update({'a': 1}) }}
{{ ''.__class__.name }}
{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{% endmacro %}{{ m(b=2) }}
{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}
{% set table.a = 1 %}
{{ 'a,b'.split('') }}
{{ 'abc'.index('x') }}
{{ 'abc'.strip(chars='a') }}
{{ [1] | join(d='a', other=1) }}
{{ range(1000000) | list }}
{{ [1, 'a'] | sort }}
{{ '%d' % 'a' }}
{{ '%s %s' % 'a' }}
{{ 1 | items | list }}
{{ x is unheard_of }}
{{ x | unheard_of }}
{% unheard_of %}
{% if %}{% endif %}
{% if yes %}
{% endif %}
{% for x list %}{% endfor %}
{{ name
{{ (1, 2 }}
{{ 1 ] }}
{{ 'abc }}
{{ ? }}
{{ }}
{% set %}
{% set a = %}
{% set true = 1 %}
{% break %}
{# never ends
{% raw %}x
{% macro m(a, a) %}{% endmacro %}
{% macro m(a=1, b) %}{% endmacro %}
{{ f(a=1, 2) }}
{{ 1 is 2 }}
{{ 1 1 }}
{{ a.b. }}
""".strip("\n").split("\n")


def case(template):
    try:
        rendered = environment().from_string(template).render(**VARIABLES)
        return {"template": template, "rendered": rendered}
    except Exception as error:  # whatever Python raises in there is a refusal
        return {"template": template, "refused": type(error).__name__}


def main():
    templates = [one.removesuffix("\n") for one in CASES.split("====\n")]
    singles = ["plain text", "{{ name }}", "a {{- name -}} b", "a {{ name -}}   b", "ends\n", "ends\n\n", "a\r\nb\rc\n",
               ""]
    cases = [case(one) for one in singles + templates]
    for one in cases:
        assert "rendered" in one, one
    refused = [case(one) for one in REFUSED]
    wrong = [one for one in refused if "refused" not in one]
    assert not wrong, wrong
    out = Path(__file__).resolve().parent.parent.parent / "tests/data/text/jinja_cases.json.gz"
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in cases + refused)
    variables = json.dumps(VARIABLES, ensure_ascii=False)
    text = '{\n"variables": ' + variables + ',\n"cases": [\n' + lines + "\n]\n}\n"
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{out}: {len(cases)} rendered, {len(refused)} refused")


if __name__ == "__main__":
    main()
