// The head of an operation.

import { HOLD, LOOK, type Mistake } from './theatre.ts'

export const HEAD: readonly Mistake[] = [
  {
    mistake: 'an empty file',
    change: { [LOOK]: '' },
    says: [
      `${LOOK}:1 the file does not begin with a head: write --[[ in line 1, then what the operation does, and ]]`,
    ],
  },
  {
    mistake: 'a file of comments',
    change: { [LOOK]: '-- Nothing yet.\n' },
    says: [
      `${LOOK}:1 the file does not begin with a head: write --[[ in line 1, then what the operation does, and ]]`,
    ],
  },
  {
    mistake: 'a line above the head',
    change: { [HOLD]: ['--[[', '-- hold.lua\n--[['] },
    says: [`${HOLD}:1 the head is not the first in the file: move --[[ to line 1`],
  },
  {
    mistake: 'a head without an end',
    change: { [LOOK]: '--[[\nLooks.\n' },
    says: [
      `${LOOK}:1 the head has no end: write ]] in the line behind its last tag`,
      `${LOOK}:3 syntax error: unfinished long comment (starting at line 1) near '<eof>': write ]] after the head`,
    ],
  },
  {
    mistake: 'a head of another level',
    change: { [LOOK]: '--[=[\nLooks.\n]=]\n' },
    says: [
      `${LOOK}:1 the file does not begin with a head: write --[[ in line 1, then what the operation does, and ]]`,
    ],
  },
  {
    mistake: 'no prose',
    change: { [HOLD]: ['Gives a seat to one person.\n\n', ''] },
    says: [`${HOLD}:1 the head does not say what the operation does: write a sentence above its tags`],
  },
  {
    mistake: 'prose below the tags',
    change: { [HOLD]: ['@cost    O(1)', '@cost    O(1)\nGives a seat to one person.'] },
    says: [
      `${HOLD}:7 the head has text behind its tags: move it above them, or indent it to continue the tag above`,
    ],
  },
  {
    mistake: 'no tag',
    change: { [HOLD]: ['@returns held  seats:integer\n@returns taken\n@cost    O(1)\n', ''] },
    says: [
      `${HOLD}:1 the head declares no answer: write @returns word  name:type, one line for each answer`,
      `${HOLD}:1 the head does not say what bounds the work: write @cost O(1), or what it is`,
      `${HOLD}:9 the head does not declare the answer taken: write @returns taken there`,
      `${HOLD}:11 the head does not declare the answer held: write @returns held there`,
    ],
  },
  {
    mistake: 'no @returns',
    change: { [HOLD]: ['@returns held  seats:integer\n@returns taken\n', ''] },
    says: [
      `${HOLD}:1 the head declares no answer: write @returns word  name:type, one line for each answer`,
      `${HOLD}:10 the head does not declare the answer taken: write @returns taken there`,
      `${HOLD}:12 the head does not declare the answer held: write @returns held there`,
    ],
  },
  {
    mistake: 'no @cost',
    change: { [HOLD]: ['@cost    O(1)\n', ''] },
    says: [`${HOLD}:1 the head does not say what bounds the work: write @cost O(1), or what it is`],
  },
  {
    mistake: 'an empty @cost',
    change: { [HOLD]: ['@cost    O(1)', '@cost'] },
    says: [`${HOLD}:6 the head does not say what bounds the work: write @cost O(1), or what it is`],
  },
  {
    mistake: 'two @cost',
    change: { [HOLD]: ['@cost    O(1)', '@cost    O(1)\n@cost    O(seats)'] },
    says: [`${HOLD}:7 the head has two @cost: write one, and continue it in lines that begin with blanks`],
  },
  {
    mistake: 'a misspelt tag',
    change: { [HOLD]: ['@cost    O(1)', '@cost    O(1)\n@read'] },
    says: [`${HOLD}:7 there is no tag @read: did you mean @reads?`],
  },
  {
    mistake: 'a tag of another language',
    change: { [HOLD]: ['@cost    O(1)', '@cost    O(1)\n@param seat the seat'] },
    says: [
      `${HOLD}:7 there is no tag @param: use @returns, @cost, @reads, @repeats, @optional; arguments are declared behind the head`,
    ],
  },
  {
    mistake: '@returns without a word',
    change: { [HOLD]: ['@returns taken', '@returns'] },
    says: [
      `${HOLD}:5 @returns has no status word: write @returns word  name:type`,
      `${HOLD}:12 the head does not declare the answer taken: write @returns taken there`,
    ],
  },
  {
    mistake: 'a status word with a capital',
    change: { [HOLD]: ['@returns taken', '@returns Taken'] },
    says: [
      `${HOLD}:5 @returns Taken: a status word is in lower case`,
      `${HOLD}:12 the head does not declare the answer taken: write @returns taken there`,
    ],
  },
  {
    mistake: 'an answer that is declared twice',
    change: { [HOLD]: ['@returns taken', '@returns taken\n@returns taken'] },
    says: [`${HOLD}:6 the head declares @returns taken twice: remove one`],
  },
  {
    mistake: '@reads on a script that writes',
    change: { [HOLD]: ['@cost', '@reads\n@cost'] },
    says: [`${HOLD}:12 HSETNX writes, and the head has @reads: remove @reads, or the call`],
  },
  {
    mistake: 'no @reads on a script that only reads',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen\n@cost    O(1)\n]]\nredis.call('HLEN', keys.seats)\nreturn { 'seen' }\n",
    },
    says: [`${LOOK}:1 the script never writes: write @reads in its head`],
  },
  {
    mistake: '@repeats without a reason',
    change: { [HOLD]: ['@cost', '@repeats\n@cost'] },
    says: [`${HOLD}:6 @repeats has no reason: write why the script may run twice`],
  },
  {
    mistake: '@repeats on a script that only reads',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen\n@reads\n@cost    O(1)\n@repeats it only reads\n]]\nredis.call('HLEN', keys.seats)\nreturn { 'seen' }\n",
    },
    says: [`${LOOK}:7 a script with @reads may always run twice: remove @repeats`],
  },
  {
    mistake: '@optional without a reason',
    change: { [HOLD]: ['@cost', '@optional\n@cost'] },
    says: [`${HOLD}:6 @optional is not complete: write @optional COMMAND and the reason`],
  },
  {
    mistake: '@optional for a command that is not called',
    change: { [HOLD]: ['@cost', '@optional SPUBLISH only where the server knows it\n@cost'] },
    says: [`${HOLD}:1 @optional names SPUBLISH, which is never called: remove the line`],
  },
  {
    mistake: 'a field without a type',
    change: { [HOLD]: ['seats:integer', 'seats'] },
    says: [
      `${HOLD}:4 the field seats is not written as name:type: write it in lower case and without blanks, as seats:integer`,
    ],
  },
  {
    mistake: 'a field with a blank before its type',
    change: { [HOLD]: ['seats:integer', 'seats: integer'] },
    says: [
      `${HOLD}:4 the field seats: is not written as name:type: write it in lower case and without blanks, as seats:integer`,
    ],
  },
  {
    mistake: 'a field with a capital',
    change: { [HOLD]: ['seats:integer', 'Seats:integer'] },
    says: [
      `${HOLD}:4 the field Seats:integer is not written as name:type: write it in lower case and without blanks, as seats:integer`,
    ],
  },
  {
    mistake: 'a type before the name',
    change: { [HOLD]: ['seats:integer', 'integer:seats'] },
    says: [
      `${HOLD}:4 integer has the type seats, which does not exist: the name stands first, seats:integer`,
    ],
  },
  {
    mistake: 'a misspelt type',
    change: { [HOLD]: ['seats:integer', 'seats:integr'] },
    says: [`${HOLD}:4 seats has the type integr, which does not exist: did you mean integer?`],
  },
  {
    mistake: 'a type of another language',
    change: { [HOLD]: ['seats:integer', 'seats:string'] },
    says: [`${HOLD}:4 seats has the type string, which does not exist: use text`],
  },
  {
    mistake: 'a type that does not exist',
    change: { [HOLD]: ['seats:integer', 'seats:money'] },
    says: [
      `${HOLD}:4 seats has the type money, which does not exist: use integer, number, big, text, bytes, flag`,
    ],
  },
  {
    mistake: 'a field that is declared twice',
    change: { [HOLD]: ['seats:integer', 'seats:integer seats:integer'] },
    says: [`${HOLD}:4 the field seats is declared twice: rename one`],
  },
  {
    mistake: 'a list without fields',
    change: { [HOLD]: ['seats:integer', 'seats:[]'] },
    says: [`${HOLD}:4 the list seats has no field: write seats:[id:integer]`],
  },
  {
    mistake: 'fields that are one in TypeScript',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer value_1:integer value1:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count, count, count }\n",
    },
    says: [`${LOOK}:4 value_1 and value1 are both value1 in TypeScript: rename one`],
  },
  {
    mistake: 'a field that every object has',
    change: {
      [LOOK]:
        "--[[\nLooks.\n\n@returns seen  value:integer constructor:integer\n@reads\n@cost    O(1)\n]]\nlocal count = redis.call('HLEN', keys.seats)\nreturn { 'seen', count, count }\n",
    },
    says: [
      `${LOOK}:4 every object of JavaScript has something called constructor: take another name for constructor`,
    ],
  },
]
