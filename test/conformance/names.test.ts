import { expect, test } from 'vitest'
import { unitPrefix } from '../../src/runtime/keys.ts'
import { readJson } from './files.ts'

interface Names {
  readonly namespace: string
  readonly structure: string
  readonly names: readonly { readonly name: string; readonly prefix: string }[]
}

const { namespace, structure, names } = readJson('names.json') as Names

test.each(names)('the keys of $name begin with $prefix', ({ name, prefix }) => {
  expect(unitPrefix(namespace, structure, name)).toBe(prefix)
})

test('no two names share keys', () => {
  expect(new Set(names.map(({ prefix }) => prefix)).size).toBe(names.length)
})

test('every prefix holds one hash tag, and it is the whole unit', () => {
  const tags = names.map(({ prefix }) => /^shop:\{([^{}]+)\}$/.exec(prefix)?.[1])

  expect(tags).not.toContain(undefined)
  expect(new Set(tags).size).toBe(names.length)
})
