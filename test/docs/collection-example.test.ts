import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('friend lists that are delivered twice are never doubled by a replace', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())

  const ended = await startProgram(['examples/collection/friends.ts', '200'], server.url).ended()

  expect(ended).toMatchObject({ code: 0, errors: '' })
  expect(ended.out).toMatch(/in a pipeline: \d+ of 200 lists are wrong\n/)
  expect(ended.out).toContain('replace of a collection: 0 of 200 lists are wrong\n')
})
