import { Type } from '@fastify/type-provider-typebox'
import { expect, test } from 'vitest'
import { duration } from './arguments.ts'
import { compileSchema } from './validation.ts'

const Message = Type.Object(
  {
    body: Type.Integer(),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
    limits: Type.Optional(Type.Record(Type.String(), Type.Integer())),
  },
  { additionalProperties: false },
)
const schema = Type.Object(
  { messages: Type.Array(Message, { maxItems: 1000 }) },
  { additionalProperties: false },
)

function errorOf(messages: unknown): string {
  const validate = compileSchema({ schema, httpPart: 'body', method: 'POST', url: '/' })
  const { error } = validate({ messages }) as { error?: Error }
  return error?.message ?? 'none'
}

test('an error in a list is reported with its position, also far into the list', () => {
  const good = Array.from({ length: 900 }, () => ({ body: 1 }))
  expect(errorOf([...good, { body: 'x' }])).toBe('messages[900].body must be integer')
  expect(errorOf([...good, ...good])).toBe('messages must not have more than 1000 items')
})

test('of a list that is far too long few elements are checked', () => {
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

const MANY = 100_000
const named = (value: unknown): object =>
  Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`name${at}`, value]))

test.each<[string, string, (counted: (value: object) => object) => object]>([
  [
    'a list in a list',
    'messages[2].tags[0] must be string',
    (counted) => ({ tags: counted(Array(MANY).fill(1)) }),
  ],
  ['names that are unknown', 'messages[2].name0 is not known here', (counted) => counted(named('a'))],
])('of %s only the first error is searched', (_what, expected, wrong) => {
  let looks = 0
  const get = (of: object, name: string | symbol): unknown => {
    looks += 1
    return Reflect.get(of, name)
  }

  const member = wrong((value) => new Proxy(value, { get }))
  expect(errorOf([{ body: 1 }, { body: 2 }, Object.assign(member, { body: 3 })])).toBe(expected)
  expect(looks).toBeLessThan(1000)
})

test('a list in a list that is too long is reported as such', () => {
  expect(errorOf([{ body: 1, tags: Array(MANY).fill('a') }])).toBe(
    'messages[0].tags must not have more than 20 items',
  )
})

test('a member of any name is reported by its name', () => {
  expect(errorOf([{ body: 1, limits: { a: 1, 'b/c': 'x' } }])).toBe('messages[0].limits.b~1c must be integer')
})

test('a number in the place of a duration is answered with what a duration looks like', () => {
  const lease = Type.Object({ lease: duration('How long it lasts.') })
  const validate = compileSchema({ schema: lease, httpPart: 'body', method: 'POST', url: '/' })

  for (const wrong of [60, '60', null]) {
    const { error } = validate({ lease: wrong }) as { error?: Error }
    expect(error?.message).toBe("lease must be a duration such as '30s'")
  }
})
