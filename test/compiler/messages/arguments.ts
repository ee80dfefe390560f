// Arguments that a module declares together.

import { HOLD, LOOK, looking, type Mistake } from './theatre.ts'

const WANTS = 'redis/shared/wants.lua'
const MODULE = `local WANT = arguments({
  seat = 'text', -- the seat
  person = 'text', -- who wants it
})

local function take(seats, want)
  return redis.call('HSETNX', seats, want.seat, want.person)
end
`
const OPERATION = `--[[
Gives a seat to one person.

@returns held  seats:integer
@returns taken
@cost    O(1)
]]
local want = ARGV[1] -- WANT: who wants which seat
local note = ARGV[3] -- text: what is noted

if take(keys.seats, want) == 0 then
  return { 'taken' }
end
redis.call('HSET', keys.seats, 'note', note)
return { 'held', seats_of(keys.seats) }
`
const FORM =
  "write local NAME = arguments({ name = 'text', -- what it means }), one argument a line, each text, bytes, integer, number or flag"

/** The expected message when one text of the operation or of the module is replaced by another. */
function row(mistake: string, file: string, from: string, to: string, says: readonly string[]): Mistake {
  const texts: Readonly<Record<string, string>> = { [HOLD]: OPERATION, [WANTS]: MODULE }
  const text = (texts[file] ?? '').replace(from, () => to)
  return { mistake, change: { ...texts, [file]: text }, says }
}

export const ARGUMENTS: readonly Mistake[] = [
  { mistake: 'none', change: { [HOLD]: OPERATION, [WANTS]: MODULE }, says: [] },
  row('a name that no module has', HOLD, 'WANT', 'WNAT', [
    `${HOLD}:8 WNAT names no arguments in any module: ${FORM}`,
  ]),
  row(
    'a table of fields in its place',
    WANTS,
    MODULE.slice(0, MODULE.indexOf(')\n') + 1),
    "local WANT = fields({ 'seat:text' })",
    [`${HOLD}:8 WANT names no arguments in any module: ${FORM}`],
  ),
  row('a wrong number', HOLD, 'ARGV[1]', 'ARGV[2]', [
    `${HOLD}:8 write ARGV[1] here, not 2: the numbers count up from 1`,
  ]),
  row('a number behind it that does not count all of them', HOLD, 'ARGV[3]', 'ARGV[2]', [
    `${HOLD}:9 write ARGV[3] here, not 2: the numbers count up from 1`,
  ]),
  row('another way to read it', HOLD, 'ARGV[1]', 'tonumber(ARGV[1])', [
    `${HOLD}:8 the declaration cannot be read from "tonumber(ARGV[1])": write local name = ARGV[1] -- WANT: meaning`,
  ]),
  row('an argument without a meaning', WANTS, ' -- the seat', '', [`${WANTS}:1 ${FORM}`]),
  row('a type that there is not', WANTS, "seat = 'text'", "seat = 'string'", [`${WANTS}:1 ${FORM}`]),
  row('no argument', WANTS, MODULE.slice(MODULE.indexOf('{'), MODULE.indexOf('}') + 1), '{}', [
    `${WANTS}:1 ${FORM}`,
  ]),
  row('two of one name', WANTS, 'person =', 'seat =', [
    `${WANTS}:1 WANT has two fields called seat: rename one`,
    `${HOLD}:8 there is another argument called seat: rename one`,
  ]),
  row('one of the name of another argument', WANTS, "person = 'text'", "note = 'text'", [
    `${HOLD}:9 there is another argument called note: rename one`,
  ]),
  row('arguments that nothing uses', HOLD, 'take(keys.seats, want)', 'seats_of(keys.seats)', [
    `${HOLD}:8 the argument want is never used: remove it, or use it`,
  ]),
  row('the names in the place of the values', HOLD, '(keys.seats, want)', '(keys.seats, WANT)', [
    `${HOLD}:8 the argument want is never used: remove it, or use it`,
    `${HOLD}:11 WANT names arguments: declare local name = ARGV[1] -- WANT: meaning behind the head, and pass that`,
  ]),
  row('what only tables of fields have', WANTS, 'want.seat', '#WANT', [
    `${WANTS}:7 WANT names arguments: declare local name = ARGV[1] -- WANT: meaning behind the head, and pass that`,
  ]),
  row('more values than a function takes', HOLD, '(keys.seats, want)', '(keys.seats, want, note)', [
    `${HOLD}:11 take takes (seats, want), and gets 3 values: leave out what is too much`,
  ]),
  {
    mistake: 'a kind by the name of what every object has in JavaScript',
    change: { [HOLD]: ['-- text: who', '-- constructor: who'] },
    says: [`${HOLD}:9 there is no kind of argument constructor: use text, bytes, integer, number, flag`],
  },
  {
    mistake: 'a declaration that goes on in the next line',
    change: {
      [LOOK]: looking(
        "local seat = ARGV[1] -- text: the seat\n  .. '!'\nredis.call('HGET', keys.seats, seat)\nreturn { 'seen' }\n",
      ),
    },
    says: [
      `${LOOK}:8 a declaration is one line, with kind and meaning: write local name = ARGV[1] -- text: what it is`,
    ],
  },
]
