import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('when two processes want a price, one at a time asks the shop, and both get it', async () => {
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
  const served = all.match(/the book costs \d+/g)?.length ?? 0
  // Each process prints the price up to four times a second; a price is valid for two seconds.
  expect(asked).toBeGreaterThan(0)
  expect(served).toBeGreaterThan(2 * asked)
  for (const { out } of both) expect(out).toContain('the book costs')
})

test('a process shows its L1 copy until another process has changed the value', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const start = (...args: string[]) => startProgram(['examples/cache/copies.ts', ...args], redis.url)
  const showing = start('show', '60')
  await showing.prints('open 9 to 17')

  const changing = await start('change', '10 to 16').ended()
  await showing.prints('open 10 to 16')
  showing.interrupt()
  const { code, out, errors } = await showing.ended()

  expect(changing).toEqual({ code: 0, errors: '', out: 'changed to 10 to 16\n' })
  expect([code, errors]).toEqual([0, ''])
  const [, open, copies, reads] =
    /^open 9 to 17\nopen (.+)\nanswered (\d+) times from this process, (\d+) times from Redis\n$/.exec(out) ??
    []
  expect(open).toBe('10 to 16')
  expect(Number(copies)).toBeGreaterThan(10 * Number(reads))
})
