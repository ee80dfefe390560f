import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('of two processes that want a price one asks the shop at a time, and both get it', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const start = () => startProgram(['examples/cache/prices.ts', '5'], redis.url)

  const both = await Promise.all([start().ended(), start().ended()])

  expect(both.map(({ code, errors }) => [code, errors])).toEqual([
    [0, ''],
    [0, ''],
  ])
  const all = both.map(({ out }) => out).join('')
  const asked = all.match(/asks for the price/g)?.length ?? 0
  const told = all.match(/the book costs \d+/g)?.length ?? 0
  // Each process tells the price up to four times a second; a price is good for two seconds.
  expect(asked).toBeGreaterThan(0)
  expect(told).toBeGreaterThan(2 * asked)
  for (const { out } of both) expect(out).toContain('the book costs')
})
