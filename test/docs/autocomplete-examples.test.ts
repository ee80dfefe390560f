import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { startProgram } from './programs.ts'

test('members of the guild are suggested while they join and leave', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())

  const { code, out, errors } = await startProgram(['examples/autocomplete/guild.ts'], redis.url).ended()

  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out.split('\n')).toEqual([
    'all are here, @jo: @jörg (veteran), @José (veteran), @john (veteran), @jochen (member), @jolanta (member)',
    'two have left, @jo: @jörg (veteran), @jochen (member), @jolanta (member), @joan (member)',
    'one has come, @jo: @joshua (veteran), @jörg (veteran), @jochen (member), @jolanta (member), @joan (member)',
    '',
  ])
})
