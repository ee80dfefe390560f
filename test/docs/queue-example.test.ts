import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('the pipeline counts every text, tries again what fails, and looks at what died', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())

  const { code, out, errors } = await startProgram(['examples/queue/pipeline.ts'], server.url).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const attempts = /^attempt \d of 3: /
  const lines = out.trimEnd().split('\n')
  // Those of different paragraphs come in any order.
  expect(lines.filter((line) => attempts.test(line)).toSorted()).toEqual([
    'attempt 1 of 3: orbits 0 is no text',
    'attempt 1 of 3: tides 1 is not there yet',
    'attempt 2 of 3: orbits 0 is no text',
    'attempt 2 of 3: tides 1 is not there yet',
    'attempt 3 of 3: orbits 0 is no text',
  ])
  expect(lines.filter((line) => !attempts.test(line))).toEqual([
    '3 texts to import; a second import of the moon is a duplicate: true',
    'moon: 31 words in 2 of 2 paragraphs',
    'orbits: 9 words in 1 of 2 paragraphs',
    'tides: 30 words in 3 of 3 paragraphs',
    'tides 1 is done after 3 attempts: 16 words',
    '1 dead of UnreadableError: UnreadableError: orbits 0 is no text',
    '1 requeued, for a worker that can read it',
    'orbits 0 is done: skipped orbits 0',
    'the moon will be imported again each day at 04:00:00',
  ])
  expect(await keysOf(server.url)).toEqual([])
})

async function keysOf(url: string): Promise<string[]> {
  const client = new Redis(url)
  onTestFinished(() => client.disconnect())
  return client.keys('*')
}
