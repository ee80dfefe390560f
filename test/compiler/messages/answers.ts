// Answers.

import { before, HOLD, LOOK, SEATS, type Mistake } from './theatre.ts'

export const ANSWERS: readonly Mistake[] = [
  {
    mistake: 'an answer that is not declared',
    change: before("if seat == '' then\n  return { 'full' }\nend"),
    says: [`${HOLD}:12 the head does not declare the answer full: write @returns full there`],
  },
  {
    mistake: 'a misspelt answer',
    change: { [HOLD]: ["{ 'taken' }", "{ 'takn' }"] },
    says: [
      `${HOLD}:5 no return gives the answer taken: remove @returns taken, or return it`,
      `${HOLD}:12 the head does not declare the answer takn: did you mean taken?`,
    ],
  },
  {
    mistake: 'no answer at the end',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }\n", ''] },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:11 the script can end without an answer: end it with return { 'word', value }`,
    ],
  },
  {
    mistake: 'an answer that depends',
    change: {
      [HOLD]: [
        "return { 'held', seats_of(keys.seats) }",
        "if seat ~= '' then\n  return { 'held', seats_of(keys.seats) }\nend",
      ],
    },
    says: [`${HOLD}:14 the script can end without an answer: end it with return { 'word', value }`],
  },
  {
    mistake: 'a number',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }", 'return 1'] },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:14 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  },
  {
    mistake: 'a text',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }", "return 'held'"] },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:14 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  },
  {
    mistake: 'nothing',
    change: { [HOLD]: ["return { 'taken' }", 'return'] },
    says: [
      `${HOLD}:5 no return gives the answer taken: remove @returns taken, or return it`,
      `${HOLD}:12 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  },
  {
    mistake: 'the answer of a command',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }", "return redis.call('GET', keys.seats)"] },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:14 GET works on a string, and seats is a hash: take a command of a hash, or list the key as 'string'`,
      `${HOLD}:14 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  },
  {
    mistake: 'a table in a local',
    change: {
      [HOLD]: ["return { 'held', seats_of(keys.seats) }", "local answer = { 'held', 1 }\nreturn answer"],
    },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:15 this is no answer: write return { 'word', value }, or return redis.error_reply('INVALID argument: problem')`,
    ],
  },
  {
    mistake: 'a map',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }", "return { status = 'held', seats = 1 }"] },
    says: [
      `${HOLD}:4 no return gives the answer held: remove @returns held, or return it`,
      `${HOLD}:14 an answer begins with a status word in quotes: write return { 'word', value }`,
    ],
  },
  {
    mistake: 'an error by hand',
    change: before("if seat == '' then\n  return { err = 'no seat' }\nend"),
    says: [`${HOLD}:12 an answer begins with a status word in quotes: write return { 'word', value }`],
  },
  {
    mistake: 'a computed word',
    change: before("local word = 'taken'\nif seat == '' then\n  return { word }\nend"),
    says: [`${HOLD}:13 an answer begins with a status word in quotes: write return { 'word', value }`],
  },
  {
    mistake: 'two values',
    change: {
      [HOLD]: ["return { 'held', seats_of(keys.seats) }", "return { 'held', seats_of(keys.seats) }, 1"],
    },
    says: [`${HOLD}:14 this return gives 2 values: put them into one list, return { 'word', value }`],
  },
  {
    mistake: 'too few values',
    change: { [HOLD]: ["return { 'held', seats_of(keys.seats) }", "return { 'held' }"] },
    says: [`${HOLD}:14 the answer held has 0 values here, and 1 in @returns held: write as many in both`],
  },
  {
    mistake: 'one value too many',
    change: { [HOLD]: ["{ 'taken' }", "{ 'taken', 1 }"] },
    says: [`${HOLD}:12 the answer taken has 1 value here, and 0 in @returns taken: write as many in both`],
  },
  {
    mistake: 'two values too many',
    change: { [HOLD]: ["{ 'taken' }", "{ 'taken', 1, 2 }"] },
    says: [`${HOLD}:12 the answer taken has 2 values here, and 0 in @returns taken: write as many in both`],
  },
  {
    mistake: 'a value with a name',
    change: { [HOLD]: ['seats_of(keys.seats) }', 'seats = 1 }'] },
    says: [
      `${HOLD}:14 a value of this answer has a name: write the values in their order, return { 'word', value }`,
    ],
  },
  {
    mistake: 'nil for a value',
    change: { [HOLD]: ['seats_of(keys.seats) }', 'nil }'] },
    says: [`${HOLD}:14 nil ends an answer: write false for null`],
  },
  {
    mistake: 'values of a list',
    change: { [HOLD]: ['seats_of(keys.seats) }', 'unpack({ 1 }) }'] },
    says: [
      `${HOLD}:14 the number of values cannot be seen here: write each value by itself, without unpack and ...`,
    ],
  },
  {
    mistake: 'a fraction for an integer',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', 0.5 }\n",
    },
    says: [
      `${LOOK}:9 value is an integer, and Redis cuts fractions off: write math.floor(…) around the value`,
    ],
  },
  {
    mistake: 'a quotient for an integer',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count / 2 }\n",
    },
    says: [
      `${LOOK}:9 value is an integer, and Redis cuts fractions off: write math.floor(…) around the value`,
    ],
  },
  {
    mistake: 'a number for a number, which is cut',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:number\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count / 2 }\n",
    },
    says: [
      `${LOOK}:9 value is declared as number, which travels as text: write string.format('%.17g', …) around the value`,
    ],
  },
  {
    mistake: 'a number for a large number',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:big\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count * 1000 }\n",
    },
    says: [
      `${LOOK}:9 value is declared as big, which travels as text: write string.format('%.0f', …) around the value`,
    ],
  },
  {
    mistake: 'a number for text',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:text\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count }\n",
    },
    says: [`${LOOK}:9 value is declared as text, and this value is a number: write tostring(…) around it`],
  },
  {
    mistake: 'a text for an integer',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', redis.call('HGET', keys.seats, 'a') }\n",
    },
    says: [`${LOOK}:9 value is declared as integer, and this value is text: write tonumber(…) around it`],
  },
  {
    mistake: 'an argument for an integer',
    change: { [HOLD]: ['seats_of(keys.seats) }', 'seat }'] },
    says: [`${HOLD}:14 seats is declared as integer, and this value is text: write tonumber(…) around it`],
  },
  {
    mistake: 'a comparison for a flag',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:flag\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count == 0 }\n",
    },
    says: [
      `${LOOK}:9 value is true or false here, and Redis sends nothing for false: write condition and 1 or 0, and value:flag in @returns`,
    ],
  },
  {
    mistake: 'a truth value for an integer',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', not count }\n",
    },
    says: [
      `${LOOK}:9 value is true or false here, and Redis sends nothing for false: write condition and 1 or 0, and value:flag in @returns`,
    ],
  },
  {
    mistake: 'a list for a text',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:text\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', {} }\n",
    },
    says: [`${LOOK}:9 value is declared as text, and this value is a list: declare value:[field:type]`],
  },
  {
    mistake: 'a text for a list',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:[id:text]\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', 'a' }\n",
    },
    says: [`${LOOK}:9 value is declared as a list, and this value is none: write { … } around it`],
  },
  {
    mistake: 'an error without a word',
    change: before("if seat == '' then\n  return redis.error_reply('the seat is empty')\nend"),
    says: [
      `${HOLD}:12 an error reply begins with INVALID, LAYOUT, CODEC, PARTITIONS: write 'INVALID argument: problem'`,
    ],
  },
  {
    mistake: 'an answer of a function that is tried',
    change: {
      [SEATS]: ['local', "local function refusal_of(seats)\n  return redis.call('HLEN', seats)\nend\nlocal"],
      [HOLD]: ['if redis', 'try(refusal_of(keys.seats))\nif redis'],
    },
    says: [
      `${SEATS}:2 try takes this value for a refusal: return nil before it, or call the function without try where it refuses nothing`,
    ],
  },
]
