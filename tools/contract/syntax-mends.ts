// Explains syntax errors of common slips, mostly of programmers used to another language.

interface Slip {
  /** In the line of the error, without texts and comments. */
  readonly line?: RegExp
  /** In what the parser says. */
  readonly said?: RegExp
  /** In the line before it. */
  readonly before?: RegExp
  readonly mend: string
}

const SLIPS: readonly Slip[] = [
  { line: /^\s*\/\//, mend: 'a comment begins with --' },
  { line: /\/\//, mend: 'Redis has Lua 5.1, which has no //: write math.floor(a / b)' },
  { line: /!=/, mend: 'write ~= for not equal' },
  { line: /&&/, mend: 'write and for &&' },
  { line: /\|\|/, mend: 'write or for ||' },
  {
    line: /<<|>>|[&|]|~(?!=)/,
    mend: 'Redis has Lua 5.1, which has no such operators: write bit.band(a, b), bit.lshift(a, b) and so on',
  },
  { line: /[-+*/]=|\+\+/, mend: 'write name = name + 1' },
  { line: /!/, mend: 'write not for !' },
  {
    line: /^\s*goto\b|^\s*::/,
    mend: 'Redis has Lua 5.1, which has no goto: write a function with return, or an if',
  },
  { line: /\bcontinue\b/, mend: 'Lua has no continue: put the rest of the loop into an if' },
  { line: /<(?:const|close)>/, mend: 'Redis has Lua 5.1, which has no <const>: remove it' },
  { line: /\bnull\b/, mend: 'write nil' },
  { said: /^'then' expected/, mend: 'write then after the condition' },
  { said: /^'do' expected/, mend: 'write do after the loop' },
  { said: /^'}' expected/, mend: 'write a comma after the entry before it, or close the braces' },
  { said: /^'end' expected/, mend: 'an if, a loop or a function has no end; else if needs two, elseif one' },
  { said: /^<name> expected/, mend: 'this word belongs to Lua, so take another name' },
  { said: /^unfinished long comment/, mend: 'write ]] after the head' },
  { said: /^unfinished string/, mend: 'write the quote at its end' },
  {
    before: /^\s*return\b/,
    mend: 'return ends its block: write if … then return … end, or move this line up',
  },
]

/** `: write ~= for not equal`, or nothing where the line has no such slip. */
export function mendOf(source: string, line: number, said: string): string {
  const lines = source.split('\n').map(bare)
  const [own = '', before = ''] = [
    lines[line - 1],
    lines.slice(0, line - 1).findLast((each) => each.trim() !== ''),
  ]
  const found = SLIPS.find(
    (slip) =>
      (slip.line?.test(own) ?? false) ||
      (slip.said?.test(said) ?? false) ||
      (slip.before?.test(before) ?? false),
  )
  return found ? `: ${found.mend}` : ''
}

/** A line without its texts and its comment. */
function bare(line: string): string {
  return line.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''").replace(/--.*$/, '')
}
