/** What Redis offers to scripts and stays harmless: all that a script may use without a module that defines it. */
export const OFFERED: ReadonlySet<string> = new Set(
  `redis string table math tonumber tostring type pairs ipairs next select unpack error pcall assert
   struct bit KEYS ARGV`.split(/\s+/),
)

/** What is there and may not be used, or is there in other Luas, and what to do instead. */
export const OF_LUA: readonly { readonly names: string; readonly mend: string }[] = [
  { names: 'os', mend: 'clock_us() gives the time of the server in microseconds' },
  { names: 'print io', mend: 'a script writes nothing out, so put the value into the answer' },
  {
    names: 'cjson cmsgpack',
    mend: 'pass each value as an argument, and lists as repeated arguments and lists in answers',
  },
  {
    names: 'require dofile loadfile module package',
    mend: 'call functions of modules below shared by their names',
  },
  { names: 'load loadstring', mend: 'write the code out' },
  { names: '_G getfenv setfenv', mend: 'write local variables' },
  {
    names: 'setmetatable getmetatable rawget rawset rawequal newproxy',
    mend: 'write plain tables and functions',
  },
  { names: 'xpcall', mend: 'write pcall' },
  { names: 'coroutine debug collectgarbage gcinfo _VERSION', mend: 'remove it' },
  { names: 'utf8 bit32', mend: 'Redis has Lua 5.1, with string and bit' },
]

/** What the libraries of Lua 5.1 have, as Redis offers them. */
export const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    string: 'byte char find format gmatch gsub len lower match rep reverse sub upper'.split(' '),
    table: 'concat insert maxn remove sort'.split(' '),
    math: `abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min modf pi pow rad sin
   sinh sqrt tan tanh`.split(/\s+/),
    bit: 'arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex'.split(' '),
    struct: 'pack size unpack'.split(' '),
  }),
)

/** Members that are there and mislead, or are there in other Luas, and what to do instead. */
export const OTHER_MEMBERS: readonly { readonly names: string; readonly mend: string }[] = [
  {
    names: 'math.random math.randomseed',
    mend: 'Redis sets the seed before each call, so all calls get the same numbers: take a random number as an argument',
  },
  { names: 'table.unpack', mend: 'write unpack' },
  { names: 'table.pack', mend: 'write { … }' },
  { names: 'table.getn', mend: 'write #list' },
  { names: 'math.mod', mend: 'write a % b' },
  { names: 'math.tointeger math.type', mend: 'Redis has Lua 5.1, where math.floor gives whole numbers' },
  { names: 'string.pack string.unpack', mend: 'write struct.pack and struct.unpack' },
]
