#!/usr/bin/env python3
"""What Python makes of guards: cases for tests/messages/guard_test.cpp.

    guard_oracle.py table              the stored table, tests/messages/guard_cases.txt
    guard_oracle.py random COUNT SEED  COUNT random cases, the same for the same seed

A case is a line of three fields with tabs between them: the text, the symbols (`a=1;b=-2`), and
what becomes of it: an integer, or `zero` (division by zero), `name` (unknown), `overflow`, `real`
(a negative exponent), `malformed`. In the text a line break is \\n and a backslash \\\\.

Python itself parses and evaluates; only its leaves are replaced by integers that refuse to leave 64
bits, so that precedence, chains and short circuits are Python's own. Whatever needs no such care is
evaluated a second time as it stands, and both must agree.
"""

import ast
import random
import sys
import warnings

LEAST, MOST = -(2**63), 2**63 - 1


class Overflow(Exception):
    pass


class Real(Exception):
    pass


class Outside(Exception):
    """Python, but no guard."""


class Unclear(Exception):
    """Python's tree does not show how it was written, and that matters."""


class Int(int):
    """An integer that does not leave 64 bits."""

    def __new__(cls, value):
        if not LEAST <= value <= MOST:
            raise Overflow
        return super().__new__(cls, value)

    def __add__(self, other):
        return Int(int(self) + int(other))

    def __sub__(self, other):
        return Int(int(self) - int(other))

    def __mul__(self, other):
        return Int(int(self) * int(other))

    def __floordiv__(self, other):
        return Int(int(self) // int(other))

    def __mod__(self, other):
        return Int(int(self) % int(other))

    def __pow__(self, other):
        if other < 0 and self != 0:
            raise Real
        if other > 64 and abs(int(self)) > 1:
            raise Overflow
        return Int(int(self) ** int(other))

    def __neg__(self):
        return Int(-int(self))

    def __pos__(self):
        return self

    def __abs__(self):
        return Int(abs(int(self)))


def pair(function):
    return function, 2, 2


def many(function, least):
    return (lambda *values: function(values)), least, None


FUNCTIONS = {
    "Eq": pair(lambda a, b: Int(a == b)),
    "Ne": pair(lambda a, b: Int(a != b)),
    "Lt": pair(lambda a, b: Int(a < b)),
    "Le": pair(lambda a, b: Int(a <= b)),
    "Gt": pair(lambda a, b: Int(a > b)),
    "Ge": pair(lambda a, b: Int(a >= b)),
    "Mod": pair(lambda a, b: a % b),
    "PythonMod": pair(lambda a, b: a % b),
    "FloorDiv": pair(lambda a, b: a // b),
    "CleanDiv": pair(lambda a, b: a // b),
    "Min": many(min, 1),
    "Max": many(max, 1),
    "min": many(min, 2),
    "max": many(max, 2),
    "Abs": (abs, 1, 1),
    "abs": (abs, 1, 1),
}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow)
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def is_integer(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def is_item(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_integer(node.operand) and not isinstance(node.operand.value, bool)
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, (int, str))
    return is_name(node, False)


def is_name(node, first=True):
    """Whether it is what the guard language calls a name; a function may only be inside of one."""
    if isinstance(node, ast.Name):
        return not first or node.id not in FUNCTIONS
    if isinstance(node, ast.Attribute):
        return is_name(node.value, first)
    if isinstance(node, ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(items) == 1 and items[0] is not node.slice:
            return False
        return is_name(node.value, first) and bool(items) and all(map(is_item, items))
    if isinstance(node, ast.Call):
        return is_name(node.func, first) and not node.keywords and all(map(is_item, node.args))
    return False


class Compiler:
    """Replaces the leaves of a tree; raises for what is no guard."""

    def __init__(self, text):
        self.text = text

    def compile(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method is None:
            raise Outside
        return method(node)

    def on_Constant(self, node):
        if not isinstance(node.value, int):
            raise Outside
        return call("Int", node)

    def on_BoolOp(self, node):
        return ast.BoolOp(node.op, [self.compile(value) for value in node.values])

    def on_UnaryOp(self, node):
        operand = self.compile(node.operand)
        if isinstance(node.op, ast.Not):
            return call("Int", ast.UnaryOp(node.op, operand))
        if isinstance(node.op, ast.USub) and is_integer(node.operand):
            if node.operand.value == 2**63:
                return call("Int", ast.Constant(LEAST))
        if not isinstance(node.op, (ast.USub, ast.UAdd)):
            raise Outside
        return ast.UnaryOp(node.op, operand)

    def on_BinOp(self, node):
        if not isinstance(node.op, OPERATORS):
            raise Outside
        return ast.BinOp(self.compile(node.left), node.op, self.compile(node.right))

    def on_Compare(self, node):
        if not all(isinstance(op, COMPARISONS) for op in node.ops):
            raise Outside
        right = [self.compile(value) for value in node.comparators]
        return call("Int", ast.Compare(self.compile(node.left), node.ops, right))

    def on_Call(self, node):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            return self.name(node)
        _, least, most = FUNCTIONS[node.func.id]
        count = len(node.args)
        if node.keywords or count < least or (most is not None and count > most):
            raise Outside
        if self.segment(node.func) != node.func.id:
            raise Unclear
        return ast.Call(node.func, [self.compile(value) for value in node.args], [])

    def name(self, node):
        if not is_name(node):
            raise Outside
        canonical = ast.unparse(node)
        if self.segment(node).replace('"', "'") != canonical.replace(" ", ""):
            raise Unclear
        return call("lookup", ast.Constant(canonical))

    on_Name = on_Attribute = on_Subscript = name

    def segment(self, node):
        return "".join(ast.get_source_segment(self.text, node).split())


def outcome(text, symbols):
    """What becomes of a case; None when this program cannot tell."""

    def lookup(name):
        if name not in symbols:
            raise NameError(name)
        return Int(symbols[name])

    try:
        tree = ast.parse(text.strip(" \t"), mode="eval")
    except (SyntaxError, ValueError):
        return "malformed"
    scope = {"Int": Int, "lookup": lookup, "__builtins__": {}}
    scope.update((name, row[0]) for name, row in FUNCTIONS.items())
    try:
        body = Compiler(text.strip(" \t")).compile(tree.body)
    except Outside:
        return "malformed"
    except Unclear:
        return None
    code = compile(ast.fix_missing_locations(ast.Expression(body)), "guard", "eval")
    result = attempt(code, scope)
    if result in ("overflow", "real"):
        return result
    plain = dict(symbols, __builtins__={})
    plain.update((name, row[0]) for name, row in FUNCTIONS.items())
    if all(name.isidentifier() for name in symbols) and all(c not in text for c in "[."):
        assert attempt(text.strip(" \t"), plain) == result, (text, symbols, result)
    return result


def attempt(code, scope):
    try:
        return str(int(eval(code, scope)))
    except ZeroDivisionError:
        return "zero"
    except NameError:
        return "name"
    except Overflow:
        return "overflow"
    except Real:
        return "real"


# Random expressions, level by level of Python's grammar so that every precedence is met.

NAMES = ["a", "b", "c", "n", "s0", "_k1"]
LONG_NAMES = ["L['x'].size()[0]", "L['x'].size()[1]", "u.v", "L['self'].w[-1]", "len(L['y'])"]
NUMBERS = ["0", "1", "2", "3", "4", "7", "8", "16", "63", "100", "True", "False", "0x10", "0b11"]
BIG = ["9223372036854775807", "9223372036854775808", "4611686018427387904", "3037000500",
       "4294967296", "18446744073709551616", "0x7fff_ffff_ffff_ffff", "1_000_000_007"]
VALUES = [0, 1, -1, 2, 3, -3, 5, 7, 8, -8, 16, 100, 255, 256]
BIG_VALUES = [MOST, LEAST, MOST - 1, LEAST + 1, 2**62, -(2**62), 2**31, 3037000500, 2**32]


class Maker:
    def __init__(self, source):
        self.random = source

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def disjunction(self, depth):
        return self.chain("or", self.conjunction, depth, 18)

    def conjunction(self, depth):
        return self.chain("and", self.negation, depth, 18)

    def chain(self, word, part, depth, percent):
        text = part(depth)
        while depth > 0 and self.chance(percent):
            text += " " + word + " " + part(depth - 1)
        return text

    def negation(self, depth):
        if depth > 0 and self.chance(12):
            return "not " + self.negation(depth - 1)
        return self.comparison(depth)

    def comparison(self, depth):
        text = self.sum(depth)
        while depth > 0 and self.chance(28):
            op = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
            text += self.blank() + op + self.blank() + self.sum(depth - 1)
        return text

    def sum(self, depth):
        return self.operators(["+", "-"], self.product, depth, 25)

    def product(self, depth):
        return self.operators(["*", "//", "%"], self.factor, depth, 28)

    def operators(self, ops, part, depth, percent):
        text = part(depth)
        while depth > 0 and self.chance(percent):
            text += self.blank() + self.random.choice(ops) + self.blank() + part(depth - 1)
        return text

    def factor(self, depth):
        if depth > 0 and self.chance(14):
            return self.random.choice(["-", "-", "- ", "+"]) + self.factor(depth - 1)
        return self.power(depth)

    def power(self, depth):
        text = self.primary(depth)
        if depth > 0 and self.chance(9):
            text += self.blank() + "**" + self.blank() + self.factor(depth - 1)
        return text

    def primary(self, depth):
        if depth > 0 and self.chance(30):
            return "(" + self.disjunction(depth - 1) + ")"
        if depth > 0 and self.chance(14):
            return self.function(depth - 1)
        kind = self.random.randrange(100)
        if kind < 52:
            return self.random.choice(NAMES)
        if kind < 60:
            return self.random.choice(LONG_NAMES)
        return self.random.choice(BIG if kind < 64 else NUMBERS)

    def function(self, depth):
        name = self.random.choice(sorted(FUNCTIONS))
        _, least, most = FUNCTIONS[name]
        count = self.random.randint(least, most or 4)
        return name + "(" + ", ".join(self.disjunction(depth) for _ in range(count)) + ")"

    def blank(self):
        return self.random.choice(["", " ", " "])

    def damaged(self, text):
        """The same with a few characters lost, doubled or replaced."""
        for _ in range(self.random.randint(1, 2)):
            at = self.random.randrange(len(text))
            kept = self.random.choice([text[at + 1:], text[at:], text[at:]])
            text = text[:at] + self.random.choice("ab01_.()[]'+-*/%<>=!,: &") + kept
        return text

    def symbols(self):
        chosen = {}
        for name in NAMES + LONG_NAMES:
            if self.chance(6):
                continue
            pool = BIG_VALUES if self.chance(6) else VALUES
            chosen[name] = self.random.choice(pool)
        return chosen

    def case(self):
        text = self.disjunction(self.random.randint(1, 5))
        return (self.damaged(text) if self.chance(6) else text), self.symbols()


def mentioned(symbols, text):
    """Those that the text may name, so that cases stay short."""
    dense = "".join(text.split()).replace('"', "'")
    return {name: value for name, value in symbols.items() if name in dense}


def random_cases(count, seed):
    maker = Maker(random.Random(seed))
    while count > 0:
        text, symbols = maker.case()
        if len(text) > 400:
            continue
        result = outcome(text, symbols)
        if result is None:
            continue
        yield text, mentioned(symbols, text), result
        count -= 1


CHOSEN_SYMBOLS = {"a": 7, "b": -3, "z": 0, "m": 256, "n": 250, "s0": 4, "big": MOST, "low": LEAST}
CHOSEN = """
7 // 2 ; -7 // 2 ; 7 // -2 ; -7 // -2 ; 7 % 3 ; -7 % 3 ; 7 % -3 ; -7 % -3 ; 0 // 5 ; 0 % -5
-2 ** 2 ; (-2) ** 2 ; 2 ** 3 ** 2 ; (2 ** 3) ** 2 ; 2 ** -1 ; 0 ** 0 ; 0 ** -1 ; (-1) ** 63
1 ** -1
-2 ** 63 ; (-2) ** 63 ; 2 ** 62 ; 2 ** 63 ; 2 ** 63 - 1 ; (-1) ** big ; 1 ** big ; 0 ** big
2 ** big
- 2 ** - 2 ; 2 ** -z ; (-3) ** 3 ; -3 ** 3 ; (-2) ** 64 ; 3037000499 ** 2 ; 3037000500 ** 2
1 < 2 < 3 ; 1 < 3 < 2 ; 3 > 2 > 1 ; 1 < 2 > 1 ; 1 == 1 == 1 ; 3 == 3 == 1 ; 1 < 2 == True
1 > 2 < 1 // 0 ; 1 < 2 < 1 // 0 ; 5 > 4 > 3 > 2 > 1 ; 1 != 2 != 1 ; a > b < a ; b < z < a < m
(1 < 2) < 3 ; 1 < (2 < 3) ; 2 > 1 > nobody ; 1 > 2 > nobody ; 1 < 2 < 3 < 3 ; 1 <= 1 >= 1
True and 5 ; 5 and True ; 0 and 1 // 0 ; 1 and 1 // 0 ; 0 or 3 ; 3 or 1 // 0
0 or 0 or 7 or nobody
not 0 ; not 5 ; not not 5 ; not 1 == 2 ; not (1 and 0) ; not 1 and 0 ; not 0 or 1 // 0
1 or 0 and 0
0 and 0 or 3 ; (0 or 0) and 3 ; 1 and 2 or 3 ; 0 or 2 and 3 ; 2 and 3 and 4 ; 2 and 0 and nobody
True + True ; True * 3 - False ; -True ; +True ; - - 5 ; -+-5 ; --big ; True == 1 ; True < 2
False // True
9223372036854775807 ; 9223372036854775808 ; -9223372036854775808 ; - 9223372036854775808
-(9223372036854775808)
--9223372036854775808 ; -9223372036854775809 ; -9223372036854775807 - 1 ; -9223372036854775808 - 1
+9223372036854775808
-+9223372036854775808 ; -(+9223372036854775808) ; -9223372036854775808 ** 1
9223372036854775807 + 1 ; True or 9223372036854775808
1 or 99999999999999999999999999
99999999999999999999999999
big + 1 ; low - 1 ; -low ; abs(low) ; Abs(low) ; low // -1 ; low % -1 ; big * 2 ; low * -1
low + big ; big - low
big + 1 - 1 ; big * 0 ; (big + 1) * 0 ; 0 and big + 1 ; 1 or big + 1 ; big // 1 ; low // 1
low % 1 ; low // big ; big // low
1_000 ; 1__0 ; 1_ ; _1 ; 0_0 ; 00 ; 0_ ; 01 ; 0_1 ; 007 ; 0x10 ; 0X_1f ; 0x ; 0xg ; 0o17 ; 0o8
0b101 ; 0b2 ; 0b_1 ; 0B1 ; 1a ; 0x1__0 ; 0xFFFFFFFFFFFFFFFF
1or 2 ; 0or 2 ; 1and 2 ; 1 or2 ; 1or2 ; 0x1or 2 ; 0x1and 2 ; 1if 1else 2 ; 1.5 ; 1. ; .5 ; 1e3 ; 1j
1E5 ; 1J ; 0x1p3
Eq(1, 1) ; Ne(1, 1) ; Lt(1, 2) ; Le(2, 1) ; Gt(2, 1) ; Ge(1, 1) ; Eq(a, 7) and Ne(b, 1)
Mod(-7, 3) ; PythonMod(-7, 3) ; FloorDiv(-7, 2) ; CleanDiv(8, 2) ; CleanDiv(-7, 2) ; Mod(7, 0)
FloorDiv(1, z)
Min(3) ; Max(3) ; Min(3, 1, 2) ; Max(3, 1, 2) ; min(3, 1) ; max(1, True) ; min(3) ; Max() ; Min()
Abs(-3) ; abs(b) ; Abs(1, 2) ; Abs()
Min(1, 2, 1 // 0) ; Max(1, nobody) ; Eq(1) ; Eq(1, 2, 3) ; Mod(5) ; Eq ; Eq + 1 ; Eq(1, 1,)
Min(1,) ; Eq(,) ; Eq(1 2) ; Min(*a) ; Eq(a=1, b=2)
Min(a, b) * Max(m, n) // Abs(b) ; Eq(Mod(m, 8), 0) and Eq(Mod(n, 8), 0) ; Eq(a and b, b or a)
Max(1 < 2, 0)
m % 8 == 0 and n % 8 == 0 ; m % 8 == 0 and n % 8 == 2 ; 2 <= s0 <= 1024 ; s0 * m // 8 + 1
m * 2 + 1 ; (m + 15) // 16 * 16
nobody ; True or nobody ; False and nobody ; nobody or True ; 1 // 0 or nobody ; nobody // 0
0 * nobody ; nobody ** -1
1 // 0 ; 1 % 0 ; 0 // 0 ; z // z ; 5 % z ; 1 // (1 - 1) ; 2 ** -1 // 0 ; 1 // 0 ** -1
a == not b ; not a == b ; - not a ; 2 ** not a ; not ; not not ; and ; or 1 ; 1 and ; 1 or or 2
a not b ; not a not b
a in b ; a is b ; a not in b ; a if b else n ; lambda: 1 ; a := 1 ; (a := 1) ; a = 1 ; a, b
(a, b) ; (a,) ; () ; [] ; [a] ; {} ; {a} ; 'a' ; None ; ... ; await a ; yield
a / b ; a @ b ; a << b ; a >> b ; a & b ; a | b ; a ^ b ; ~a ; a ! b ; a <> b ; a =< b ; a === b
a ** ; ** a ; a // ; // a ; * a ; a * * b ; a * / b ; a / / b
( ; ) ; (a ; a) ; ((a) ; (a)) ; (((a))) ; a b ; a 1 ; 1 a ; 1 2 ; a(; a) ; a[ ; a] ; a[] ; a[1 ; a.
a..b ; .a ; a.1 ; a.if ; a.True ; if ; a$ ; $ ; ? ; a? ; `a` ; a; ; \\ ; a \\ b
L['x'] ; L['x' ; L['x ; L[x'] ; L["x"] ; L['x'].size() ; L['x'].size()[ ; L['x'].size)[0]
L['x'].size()[0 ; L['x'][1, 2] ; L[f(1)] ; L[1 + 1] ; L[(1)] ; L[] ; f(1 + 1) ; f(a.b, -1, 'x')
f(,) ; f(1,) ; f(-a) ; f(--1)
a.b ; a . b ; a [ 0 ] ; a['it\\\\'s'] ; a[None] ; a[True] ; a[not] ; a[1:2] ; a[1.5] ; a[b'x']
a['x' 'y']
"""
CHOSEN_LINES = ["a +\n b", "(a +\n b)", "a\n", "a\n+ b", "a\n\n", " a", "\ta", "a\t+\tb",
                "(\n1\n)\n", "", " ", "\n", "Min(a,\n b)", "L['x']\n['y']", "(L\n['x'])", "a\r\n",
                "(a\r\n)"]


def chosen_cases():
    for text in CHOSEN_LINES + [part.strip() for line in CHOSEN.strip().splitlines()
                                for part in line.split(" ; ")]:
        text = text.replace("\\\\", "\\")
        result = outcome(text, CHOSEN_SYMBOLS)
        if result is not None:
            yield text, mentioned(CHOSEN_SYMBOLS, text), result


def show(case):
    text, symbols, result = case
    text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    print(text, ";".join(f"{name}={value}" for name, value in symbols.items()), result, sep="\t")


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["table"]:
        print("# Made by `tests/support/guard_oracle.py table`; the format stands there.")
        for case in chosen_cases():
            show(case)
        for case in random_cases(2500, 20):
            show(case)
    elif len(sys.argv) == 4 and sys.argv[1] == "random":
        for case in random_cases(int(sys.argv[2]), int(sys.argv[3])):
            show(case)
    else:
        sys.exit(__doc__)


main()
