import { Type } from '@fastify/type-provider-typebox'
import { expect, test } from 'vitest'
import { compileSchema } from './validation.ts'

const Message = Type.Object({ body: Type.Integer() }, { additionalProperties: false })
const schema = Type.Object(
  { messages: Type.Array(Message, { maxItems: 1000 }) },
  { additionalProperties: false },
)

function errorOf(messages: unknown): string {
  const validate = compileSchema({ schema, httpPart: 'body', method: 'POST', url: '/' })
  const { error } = validate({ messages }) as { error?: Error }
  return error?.message ?? 'none'
}

test('what is wrong in a list is told by its place, also far behind', () => {
  const good = Array.from({ length: 900 }, () => ({ body: 1 }))
  expect(errorOf([...good, { body: 'x' }])).toBe('messages[900].body must be integer')
  expect(errorOf([...good, ...good])).toBe('messages must not have more than 1000 items')
})

test('of a list that is far too long few elements are looked at', () => {
  let looks = 0
  const element = {
    get body() {
      looks += 1
      return 'x'
    },
  }
  expect(errorOf(Array.from({ length: 100_000 }, () => element))).toBe('messages[0].body must be integer')
  expect(looks).toBeLessThan(10_000)
})
