import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('every like is in the table at the end, once', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())

  const { code, out, errors } = await startProgram(['examples/counters/likes.ts', '5000'], server.url).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out).toMatch(/^5000 likes in .+ s\n\d+ counters are not flushed yet, .+ for \d+ ms\n/)
  expect(out).toMatch(/the table has all 5000\n$/)
})
