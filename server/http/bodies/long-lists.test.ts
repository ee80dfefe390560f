import { expect, test } from 'vitest'
import { isLong } from './long-lists.ts'

const many = (element: string): string => Array(100).fill(element).join()

test.each([
  ['ids', `{"ids":[${many('"a"')}]}`, true],
  ['messages', `{"messages":[${many('{"body":[1,2]}')}]}`, true],
  ['pairs', `{ "items" : [ ${many('["a", 1]')} ] }`, true],
  ['fifty', `{"ids":[${Array(50).fill(1).join()}]}`, false],
  ['one message that is a list', `{"messages":[{"body":[${many('1')}]}]}`, false],
  ['a text with commas', `{"messages":[{"body":"\\"${','.repeat(100)}[{"}],"a":"\\\\"}`, false],
  ['nothing', '', false],
  ['no JSON', '"', false],
])('recognises a list of many: %s', (_what, text, isOne) => {
  expect(isLong(Buffer.from(text))).toBe(isOne)
})
