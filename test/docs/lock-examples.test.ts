import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

async function run(file: string): Promise<{ code: number | null; out: string; errors: string }> {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return startProgram([`examples/lock/${file}`], redis.url).ended()
}

test('Redis and SQL reject a holder that slept too long', async () => {
  const { code, out, errors } = await run('fencing.ts')

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out.trim().split('\n')).toEqual([
    'the next holder writes to Redis: true',
    'the next holder writes to SQL: true',
    'the sleeper writes to Redis: false',
    'the sleeper writes to SQL: false',
    'Redis: 120 SQL: 120',
    'the sleeper lost its lease: true',
  ])
})

test('ten processes that read Redis, query SQL and write back lose no update', async () => {
  expect(await run('read-sql-write.ts')).toEqual({ code: 0, errors: '', out: '10 things cost 250\n' })
})
