import { expect, test } from 'vitest'
import { unitPrefix } from '../../src/runtime/values/keys.ts'
import { readNames } from './files.ts'

const { namespace, structure, names } = readNames()

test.each(names)('the keys of $name begin with $prefix', ({ name, prefix }) => {
  expect(unitPrefix(namespace, structure, name)).toBe(prefix)
})

test('no two names share keys', () => {
  expect(new Set(names.map(({ prefix }) => prefix)).size).toBe(names.length)
})

test('every prefix holds one hash tag, which is the whole unit', () => {
  const tags = names.map(({ prefix }) => /^shop:\{([^{}]+)\}$/.exec(prefix)?.[1])

  expect(tags).not.toContain(undefined)
  expect(new Set(tags).size).toBe(names.length)
})
