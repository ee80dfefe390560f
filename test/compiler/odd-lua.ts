// Bodies of operations that are legal Lua 5.1 and seldom written. Each may use `keys`, and sets `value`.

export const BODIES: Readonly<Record<string, string>> = {
  'a method that knows itself':
    'local bag = { n = 1 }\nfunction bag:add(n)\n  self.n = self.n + n\n  return self\nend\nvalue = value .. bag:add(2):add(3).n\n',
  'a method within a table within a table':
    "local a = { b = { c = {} } }\nfunction a.b.c:tell(x)\n  return self == a.b.c and x or 'no'\nend\nfunction a.b.plain(self)\n  return self\nend\nvalue = value .. a.b.c:tell('yes') .. a.b.plain('s')\n",
  'a local called self beside methods':
    "local self = 'outer'\nlocal bag = { name = 'inner' }\nfunction bag:tell()\n  local function deep()\n    return self.name\n  end\n  return deep()\nend\nfunction bag.own()\n  return self\nend\nvalue = value .. bag:tell() .. bag.own() .. self\n",
  'a method with a parameter called self':
    "local bag = { name = 'b' }\nfunction bag:tell(self)\n  return self\nend\nvalue = value .. bag:tell('mine')\n",
  'a method that hides self':
    "local bag = { name = 'b' }\nfunction bag:tell()\n  local self = self.name .. 'x'\n  return self\nend\nvalue = value .. bag:tell()\n",
  'a method that sets self':
    "local bag = { name = 'b' }\nfunction bag:tell()\n  self = { name = 'other' }\n  return self.name\nend\nvalue = value .. bag:tell() .. bag.name\n",
  'a method with any number of values':
    "local bag = {}\nfunction bag:count(...)\n  return select('#', self, ...)\nend\nvalue = value .. bag:count() .. bag:count(nil, nil)\n",
  'a key called self in a method':
    "local bag = {}\nfunction bag:push(x)\n  redis.call('RPUSH', keys.self, x)\n  return self\nend\nbag:push('1'):push('2')\n",
  'a key called arg in a function of any number of values':
    "local function push(...)\n  redis.call('RPUSH', keys.arg, ...)\nend\npush('1', '2')\n",
  'a local called arg':
    "local arg = { 'a' }\nlocal function tell()\n  return arg[1]\nend\nlocal function many(...)\n  return tell() .. select('#', ...)\nend\nvalue = value .. many(1, 2) .. arg[1]\n",
  'a function that would sink to where arg is another':
    "local arg = { 'a' }\narg[2] = 'b'\nlocal function tell()\n  return arg[1]\nend\nlocal function many(...)\n  if value ~= 'w' then\n    return tell()\n  end\nend\nvalue = value .. many(1, 2) .. arg[2]\n",
  'arg in a function of its own with any number of values':
    'local function many(...)\n  local arg = { ... }\n  return #arg .. arg[1]\nend\nvalue = value .. many(1, 2)\n',
  'names of what every object has in JavaScript':
    "local constructor, toString, __proto__ = 'c', 't', 'p'\nlocal function hasOwnProperty(valueOf)\n  return valueOf .. constructor\nend\nlocal t = { constructor = 1, __proto__ = 2, toString = 3, ['valueOf'] = 4 }\nvalue = value .. hasOwnProperty('v') .. toString .. __proto__ .. t.constructor .. t.__proto__ .. t.toString .. t.valueOf\n",
  'what is not called by the names of JavaScript':
    'local t = {}\nvalue = value .. tostring(t.constructor) .. tostring(t.toString)\n',
  'commands with words of JavaScript':
    "redis.call('RPUSH', keys.constructor, 'constructor', 'toString', '__proto__')\nredis.call('SET', keys.state, 'constructor')\nvalue = redis.call('GET', keys.state)\n",
  'a key over lines':
    "redis.call('RPUSH', keys\n  .log, 'a')\nredis.call('RPUSH', keys --[[log_key]] .log, 'b')\nredis.call('RPUSH', keys. --[[ log_key ]] log, 'c')\nredis.call('RPUSH', keys -- log_key\n.log\n, 'd')\n",
  'keys over lines beside locals of their names':
    "local log, log_key = 'l', 'k'\nredis.call('RPUSH', keys\n  .log, log, log_key)\n",
  'a key called keys': "redis.call('RPUSH', keys.keys, 'a')\nredis.call('RPUSH', keys.log, 'b')\n",
  'a key called keys that a function takes':
    "local function push(keys, x)\n  redis.call('RPUSH', keys.keys, x)\n  redis.call('RPUSH', keys.log, x)\nend\npush(keys, 'a')\nredis.call('RPUSH', keys.keys, 'z')\n",
  'a key whose other name is another key':
    "local log = 'l'\nredis.call('RPUSH', keys.log, log)\nredis.call('RPUSH', keys.log_key, 'k')\n",
  'a key whose other name is a local':
    "local log, log_key = 'l', 'k'\nredis.call('RPUSH', keys.log, log, log_key)\n",
  'a local for a key, over lines':
    "local both = {\n  keys.log,\n  keys\n    .log_key,\n}\nfor _, key in ipairs(both) do\n  redis.call('RPUSH', key, 'b')\nend\n",
  'keys in parentheses': "redis.call('RPUSH', (keys).log, 'a')\nredis.call('RPUSH', (keys.log), 'b')\n",
  'numbers of all kinds':
    "local huge, hex, long, small = 1e999, 0xFF, 123456789012345678901234567890, .5e-3\nlocal less = -1e999\nlocal sum = 0.1 + 0.2 - 3 * -2\nvalue = table.concat({ value, huge, less, hex, long, small, sum, 0x7fffffffffffffff, 1., 1e3, 1E+3, 00012, 3e-324 }, ' ')\n",
  'numbers that blanks part':
    "local five = 5\nvalue = value .. 5 ..'' .. five ..'' .. 5. ..'' .. - - five .. - -5 .. 2 ^-1 .. 2 ^- 2 ^2\n",
  'powers and signs':
    'local two = 2\nvalue = value .. -two ^ 2 .. 2 ^ 3 ^ 2 .. (-two) ^ 2 .. -2 % 5 .. 7 % -3\n',
  'a constant before a power':
    'local base = -2\nlocal power = 2\nvalue = value .. base ^ power .. base .. 2 ^ base\n',
  'a constant that is no number': 'local nan = 0 / 0\nvalue = value .. tostring(nan == nan)\n',
  'nothing with a sign':
    'local none, less = 0, -1\nlocal function of(x)\n  return 1 / -none + 1 / (none * less) + x + 0\nend\nvalue = value .. of(0) .. 1 / (none / less) .. 1 / none\n',
  'a constant in a step': 'local step = -1\nfor i = 3, 1, step do\n  value = value .. i\nend\n',
  'a loop until something of its own':
    'local i = 0\nrepeat\n  local done = i > 2\n  i = i + 1\n  local function is()\n    return done\n  end\nuntil is()\nvalue = value .. i\n',
  'a loop until what hides another':
    'local done, i = true, 0\nrepeat\n  i = i + 1\n  local done = i == 4\nuntil done\nvalue = value .. i .. tostring(done)\n',
  'functions made by a loop':
    'local all = {}\nfor i = 1, 3 do\n  local j = i * 2\n  all[i] = function()\n    j = j + 1\n    return i .. j\n  end\nend\nvalue = value .. all[1]() .. all[1]() .. all[3]()\n',
  'a loop over what hides its own list':
    'local i, n = 5, 2\nfor i = i, i + n do\n  local i = i * n\n  value = value .. i\nend\nvalue = value .. i\n',
  'a loop over values of its own':
    'local function upto(n, i)\n  if i < n then\n    return i + 1\n  end\nend\nfor i in upto, 3, 0 do\n  value = value .. i\nend\n',
  'long texts of all levels':
    'local one = [[\nfirst [=[ ]=] -- no\n]]\nlocal two = [==[]]]=]]==]\nvalue = value .. one .. two .. [[a]] .. #[[\n\n]]\n',
  'long comments of all levels':
    "value = value --[==[ ]] ]=] value = 'x' ]==] .. 'a' --[[x]] .. --[=[\n]]\n]=] 'b'\n--[[ value = 'y'\n]] value = value .. 'c' ---[[ no\n",
  escapes:
    "value = value .. '\\065\\66\\0671\\n\\r\\t\\\\\\'\\\"\\z\\q' .. \"\\\nline\" .. '\\0' .. #'\\0001'\n",
  'a text over lines': "local text = 'a\\\n   b -- c\\\n\\\n  d'\nvalue = value .. text .. #text\n",
  'a long text with what looks like a declaration':
    'local text = [[\nlocal call_id = ARGV[4] -- CALL_ID: of this call\nlocal all, at = ARGV, 2 -- repeated (a:text): b\nlocal log = KEYS[1] -- list: l\n-- @optional UNLINK nothing\nvalue = try(f())\nkeys.log\n]]\nvalue = value .. text\n',
  semicolons:
    "local a = 1; local b = 2;\nlocal function f() return a; end;\ndo local c = f(); value = value .. c .. b; end;\nlocal unused = function() end;\n(function() value = value .. 'called' end)();\n",
  'methods of texts':
    "value = ('x'):rep(3) .. ('%d'):format(7) .. value:upper() .. ([[ab]]):len() .. ('a'):byte()\n",
  'a text whose methods are called':
    "local text, form = 'ab', '%s-%s'\nvalue = text:upper() .. form:format(text, value)\n",
  'calls without parentheses':
    "local function f(t)\n  return type(t) == 'table' and #t or t\nend\nvalue = value .. f{1, 2, 3} .. f'text' .. f[[long]] .. #f\"q\" .. type{}\n",
  'calls of what calls give':
    "local function make(a)\n  return function(b)\n    return { at = function(c) return a .. b .. c end }\n  end\nend\nvalue = make'1''2'.at'3' .. make(value)(2).at(3)\n",
  'a table of all kinds of keys':
    "local k = 'key'\nlocal t = { 1, 2; [k] = 3, k = 4, [10] = 5, ['a b'] = 6, [true] = 7, [1.5] = 8, [-1] = 9, 3, nil, 4; [k .. k] = 'n', ['end'] = 10 }\nvalue = value .. t[1] .. t[2] .. t[3] .. t[k] .. t.k .. t[10] .. t['a b'] .. t[true] .. t[1.5] .. t[-1] .. t.keykey .. t['end'] .. #t\n",
  'the last of a table takes all':
    "local function three()\n  return 1, 2, 3\nend\nlocal all, first, both = { three() }, { (three()) }, { three(), three() }\nlocal t = { three(), nil }\nvalue = value .. #all .. #first .. #both .. #t .. select('#', three()) .. select('#', (three()))\n",
  'more names than values, and more values':
    "local a, b, c = 1\nlocal d, e = 1, 2, value:upper()\nlocal function two()\n  return 'x', 'y'\nend\nlocal f, g, h = two()\nlocal i, j = two(), 'z'\nvalue = value .. tostring(b) .. tostring(c) .. a .. d .. e .. f .. g .. tostring(h) .. i .. j\n",
  'names that change places':
    'local a, b, t, i = 1, 2, {}, 1\na, b = b, a\ni, t[i] = i + 1, 20\nvalue = value .. a .. b .. tostring(t[1]) .. tostring(t[2]) .. i\n',
  'a local of the same name as its function':
    "local f = function(n)\n  return n\nend\nlocal f = function(n)\n  return f(n) .. 'outer'\nend\nlocal function g(n)\n  if n == 0 then return 'end' end\n  local g = g\n  return g(n - 1)\nend\nvalue = f(value) .. g(2)\n",
  'parameters of one name': 'local function last(a, a)\n  return a\nend\nvalue = value .. last(1, 2)\n',
  'a name of nothing':
    'local _ = 1\nlocal _, _ = 2, 3\nfor _, _ in ipairs({ 4 }) do\n  value = value .. _\nend\nvalue = value .. _\n',
  'functions that need each other':
    "local odd\nlocal function even(n)\n  if n == 0 then return 'even' end\n  return odd(n - 1)\nend\nfunction odd(n)\n  if n == 0 then return 'odd' end\n  return even(n - 1)\nend\nvalue = value .. even(7)\n",
  'a function of a table that is set':
    "local t = {}\nfunction t.f(x)\n  return x .. '!'\nend\nfunction t.g(x)\n  return t.f(x) .. '?'\nend\nt.h = t.g\nvalue = t.h(value)\n",
  'a declared argument that is set in a function':
    'local function set(x)\n  value = value .. x\n  return value\nend\nlocal before = value\nvalue = set(1) .. before .. set(2)\n',
  'ends in the middle':
    "local function f(x)\n  do return x end\n  return 'never'\nend\nwhile true do\n  if f(value) then break end\nend\nfor i = 1, 9 do\n  if i == 3 then break end\n  value = value .. i\nend\n",
  'and, or and not':
    "local no = false\nlocal nothing\nvalue = value .. tostring(no and 1 or nothing) .. tostring(not not nothing) .. tostring(nothing == no) .. (no or 'o') .. tostring(1 and nil) .. tostring(not nothing == true)\n",
  'orders of what is put together':
    "local a, b = 'a', 'b'\nvalue = value .. a .. b .. (a .. b) .. tostring(a < b) .. tostring(a .. b == 'ab') .. 1 + 2 .. #a + 1\n",
  'values of any number, cut':
    "local function f(...)\n  local a, b = (...), select(2, ...)\n  local t = { n = select('#', ...), ... }\n  return a, b, t.n, #t, ...\nend\nvalue = value .. table.concat({ f('x', 'y', 'z') }, ',')\n",
  'a function in a function of any number of values':
    "local function outer(...)\n  local t = { ... }\n  local function inner(...)\n    return #t .. select('#', ...)\n  end\n  return inner(1, unpack(t))\nend\nvalue = value .. outer(7, 8)\n",
  'errors that are caught':
    "local ok, problem = pcall(function()\n  error({ code = 5 })\nend)\nlocal fine, text = pcall(error, 'odd', 0)\nvalue = value .. tostring(ok) .. problem.code .. tostring(fine) .. text .. tostring(pcall(error))\n",
  'a table that is handed to a function of none':
    "local function none()\n  return 'none'\nend\nlocal function rest(...)\n  return select('#', ...)\nend\nlocal t = { a = 1 }\nlocal f = none\nvalue = value .. rest(t, t) .. f(t) .. none()\n",
  'words of Lua beside signs':
    "local t={}t.a=1;t['b']=2\nif(t.a)then value=value..t.a..t['b']end\nfor _,v in ipairs{1,2}do value=value..v end\nlocal f=function()return(value)end\nvalue=f()\n",
}
