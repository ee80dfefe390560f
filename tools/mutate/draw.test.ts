import { join } from 'node:path'
import { expect, test } from 'vitest'
import { draw, sharesOf } from './draw.ts'
import { luaChanges } from './lua-changes.ts'
import { applied, changeOf, type Mutant, mutantsOf } from './mutant.ts'
import { allMutants } from './places.ts'

const ROOT = join(import.meta.dirname, '../..')
const all = [...allMutants(ROOT, 'lua'), ...allMutants(ROOT, 'ts')]

const SCRIPT = `local limit = tonumber(ARGV[1]) -- integer: how many
local found = redis.call('LLEN', log)
if found >= limit then
  return redis.error_reply('LAYOUT ' .. 7)
end
redis.call('DEL', log)
return { 'done', found + 1 }
`

function changes(mutants: readonly Mutant[]): string[] {
  return mutants.map(({ line, ...mutant }) => `${line} ${changeOf(mutant)}`)
}

test('a seed draws the same mutants every time, and another seed others', () => {
  const first = draw(all, 40, 5)

  expect(draw(all.toReversed(), 40, 5)).toEqual(first)
  expect(draw(all, 40, 6)).not.toEqual(first)
})

test('a draw hits every structure and every folder that all structures share', () => {
  const drawn = new Set(draw(all, 40, 5).map(({ stratum }) => stratum))

  expect([...drawn].toSorted()).toEqual([...new Set(all.map(({ stratum }) => stratum))].toSorted())
})

test('what is larger has a larger share, and the smallest has one', () => {
  const sizes = new Map([
    ['feed', 900],
    ['lock', 300],
    ['once', 3],
  ])

  expect([...sharesOf(sizes, 12)]).toEqual([
    ['feed', 8],
    ['lock', 3],
    ['once', 1],
  ])
})

test('declarations and texts of errors are left as they are', () => {
  expect(changes(mutantsOf('lua/demo/count.lua', SCRIPT, luaChanges(SCRIPT)))).toEqual([
    "3 dropped: if found >= limit then return redis.error_reply('LAYOUT ' .. 7) end",
    '3 >= → >',
    '3 >= → <',
    "6 dropped: redis.call('DEL', log)",
    '7 + → -',
    '7 1 → 2',
  ])
})

test('a mutant differs from its source in its place, and moves no line', () => {
  for (const mutant of mutantsOf('lua/demo/count.lua', SCRIPT, luaChanges(SCRIPT))) {
    const text = applied(SCRIPT, mutant)
    expect(text).not.toBe(SCRIPT)
    expect(text.split('\n')).toHaveLength(SCRIPT.split('\n').length)
  }
})
