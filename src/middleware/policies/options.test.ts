import { InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { IdempotencyPolicy } from './idempotency.ts'
import { ResponseCachePolicy } from './response-cache.ts'

const idempotency = (options: object): object => new IdempotencyPolicy({} as never, options)
const responseCache = (options: object): object => new ResponseCachePolicy({} as never, options)

test.each<[string, (options: object) => object]>([
  ['required', idempotency],
  ['onNotKept', idempotency],
  ['withAuthorization', responseCache],
  ['stripCookies', responseCache],
])('%s given as a string is rejected by name', (argument, make) => {
  const mistaken = (): object => make({ [argument]: 'false' })

  expect(mistaken).toThrow(InvalidArgumentError)
  expect(mistaken).toThrow(new RegExp(`^${argument} must be`))
  expect(make({})).toBeDefined()
})
