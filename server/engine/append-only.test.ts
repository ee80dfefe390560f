import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendOnlyFile, CUT_TRANSACTION } from '../../test/servers/append-only.ts'
import { ask } from '../../test/servers/ask.ts'
import { keepWhatIsCut } from './append-only.ts'
import { portOf, REAL_SERVER, setupWithRedis } from './engine-fixture.ts'

test.each([true, false])(
  'a private server starts on a file truncated by a crash, after its repair: %s',
  async (hasMender) => {
    const machine = setupWithRedis()
    const name = REAL_SERVER.replace('-server', '-check-aof')
    if (hasMender) machine.program('redis-check-aof', `exec ${name} "$@"`)
    const first = await machine.start()
    await ask(portOf(first), 'RPUSH', 'list', 'first', 'second')
    await first.stop()
    const file = appendOnlyFile(machine.directory)
    appendFileSync(file, CUT_TRANSACTION)

    const second = await machine.start()
    await ask(portOf(second), 'EVAL', "redis.call('SET', 'one', 1) redis.call('SET', 'two', 2)", 0)
    expect(await ask(portOf(second), 'LRANGE', 'list', 0, -1)).toEqual(['first', 'second'])
    await second.stop()

    expect(machine.said).toEqual([
      expect.stringMatching(
        hasMender
          ? /^removed the part of .* that a crash had truncated/
          : /: no redis-check-aof could repair it/,
      ),
    ])
    if (!hasMender) return
    const [, kept = ''] = /it is saved in (.*)$/.exec(machine.said[0] ?? '') ?? []
    // No more than was removed, whatever the data.
    expect(readFileSync(kept, 'utf8')).toBe(CUT_TRANSACTION)
    const third = await machine.start()
    expect(await ask(portOf(third), 'LRANGE', 'list', 0, -1)).toEqual(['first', 'second'])
  },
)

test('the truncated part stays in the file as long as it cannot be saved elsewhere', async () => {
  const machine = setupWithRedis()
  const engine = await machine.start()
  await ask(portOf(engine), 'SET', 'any', 1)
  await engine.stop()
  const file = appendOnlyFile(machine.directory)
  appendFileSync(file, CUT_TRANSACTION)
  const cut = readFileSync(file, 'utf8')
  const name = REAL_SERVER.replace('-server', '-check-aof')

  const keeping = keepWhatIsCut(machine.directory, name, join(machine.directory, 'nowhere', 'kept'))

  await expect(keeping).rejects.toThrow('ENOENT')
  expect(readFileSync(file, 'utf8')).toBe(cut)
})
