// Slips of syntax.

import { before, HOLD, type Mistake } from './theatre.ts'

export const SYNTAX: readonly Mistake[] = [
  {
    mistake: 'division without a rest',
    change: before('local half = 7 // 2'),
    says: [
      `${HOLD}:11 syntax error: <expression> expected near '/': Redis has Lua 5.1, which has no //: write math.floor(a / b)`,
    ],
  },
  {
    mistake: 'bits',
    change: before('local bits = 7 & 2'),
    says: [
      `${HOLD}:11 syntax error: unexpected symbol '&' near '7': Redis has Lua 5.1, which has no such operators: write bit.band(a, b), bit.lshift(a, b) and so on`,
    ],
  },
  {
    mistake: 'a comment of another language',
    change: before('// a comment'),
    says: [`${HOLD}:11 syntax error: <expression> expected near '/': a comment begins with --`],
  },
  {
    mistake: 'not equal of another language',
    change: before("if seat != '' then return { 'taken' } end"),
    says: [`${HOLD}:11 syntax error: unexpected symbol '!' near 'seat': write ~= for not equal`],
  },
  {
    mistake: 'and of another language',
    change: before("if seat == '' && person == '' then return { 'taken' } end"),
    says: [`${HOLD}:11 syntax error: unexpected symbol '&' near '''': write and for &&`],
  },
  {
    mistake: 'or of another language',
    change: before("if seat == '' || person == '' then return { 'taken' } end"),
    says: [`${HOLD}:11 syntax error: unexpected symbol '|' near '''': write or for ||`],
  },
  {
    mistake: 'not of another language',
    change: before("if !seat then return { 'taken' } end"),
    says: [`${HOLD}:11 syntax error: unexpected symbol '!' near 'if': write not for !`],
  },
  {
    mistake: 'an assignment that adds',
    change: before('local n = 1\nn += 1'),
    says: [`${HOLD}:12 syntax error: '=' expected near '+': write name = name + 1`],
  },
  {
    mistake: 'goto',
    change: before('goto done'),
    says: [
      `${HOLD}:11 syntax error: '=' expected near 'done': Redis has Lua 5.1, which has no goto: write a function with return, or an if`,
    ],
  },
  {
    mistake: 'continue',
    change: before('for _ = 1, 2 do continue end'),
    says: [
      `${HOLD}:11 syntax error: '=' expected near 'end': Lua has no continue: put the rest of the loop into an if`,
    ],
  },
  {
    mistake: 'a constant of a newer Lua',
    change: before('local n <const> = 1'),
    says: [
      `${HOLD}:11 syntax error: unexpected symbol '<' near 'const': Redis has Lua 5.1, which has no <const>: remove it`,
    ],
  },
  {
    mistake: 'null',
    change: before('local n = null 1'),
    says: [`${HOLD}:11 syntax error: unexpected number '1' near 'if': write nil`],
  },
  {
    mistake: 'a question mark',
    change: before('local n = seat ? 1 : 2'),
    says: [`${HOLD}:11 syntax error: unexpected symbol '?' near 'seat'`],
  },
  {
    mistake: 'no then',
    change: { [HOLD]: ['== 0 then', '== 0'] },
    says: [`${HOLD}:12 syntax error: 'then' expected near 'return': write then after the condition`],
  },
  {
    mistake: 'no do',
    change: before('for _ = 1, 2\nend'),
    says: [`${HOLD}:12 syntax error: 'do' expected near 'end': write do after the loop`],
  },
  {
    mistake: 'no end',
    change: { [HOLD]: ["{ 'taken' }\nend", "{ 'taken' }"] },
    says: [
      `${HOLD}:13 syntax error: 'end' expected near 'return': an if, a loop or a function has no end; else if needs two, elseif one`,
    ],
  },
  {
    mistake: 'else if',
    change: before(
      "if seat == '' then\n  return { 'taken' }\nelse if person == '' then\n  return { 'taken' }\nend",
    ),
    says: [
      `${HOLD}:20 syntax error: 'end' expected near '<eof>': an if, a loop or a function has no end; else if needs two, elseif one`,
    ],
  },
  {
    mistake: 'no quote at the end',
    change: before("local text = 'seat"),
    says: [`${HOLD}:11 syntax error: unfinished string near ''seat': write the quote at its end`],
  },
  {
    mistake: 'no closing parenthesis',
    change: before('local n = tostring(1'),
    says: [`${HOLD}:12 syntax error: ')' expected near 'if'`],
  },
  {
    mistake: 'a line behind return',
    change: {
      [HOLD]: [
        "return { 'held', seats_of(keys.seats) }",
        "return { 'held', seats_of(keys.seats) }\nlocal n = 1",
      ],
    },
    says: [
      `${HOLD}:15 syntax error: unexpected keyword 'local' near 'n': return ends its block: write if … then return … end, or move this line up`,
    ],
  },
  {
    mistake: 'nesting that is too deep',
    change: before(`local n = ${'('.repeat(100_000)}1`),
    says: [`${HOLD}:1 the file is nested too deeply to be read: make functions of its inner parts`],
  },
]
