// The ACL rule that docs/compatibility.md names for a structure is enough for it, and for nothing else.

import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { startRedis } from '../servers/redis.ts'
import { placeOn } from './uses/place.ts'
import { allUses, type StructureUse } from './uses/use.ts'

describe.each(await allUses())('a user with the rule of the $structure', ({ structure, steps }) => {
  test('can use every operation of the structure', async () => {
    const { port, user } = await setup(structure)
    const place = await placeOn({ port, driver: ioredis(user), namespace: 'shop' })

    const asUser: unknown[] = []
    for (const [, , run] of steps(place)) asUser.push(await run())

    expect(asUser).toEqual(await asAdmin(port, steps))
  })

  test('can reach nothing else', async () => {
    const { port, user } = await setup(structure)
    const elsewhere = await placeOn({ port, driver: ioredis(user), namespace: 'other' })

    const [first] = steps(elsewhere)

    await expect(first?.[2]()).rejects.toMatchObject({ name: 'DriverError', code: 'forbidden' })
    const others = Object.keys(contract.structures).filter((other) => other !== structure)
    for (const key of [...others.map((other) => `shop:{${other}:a}:state`), 'key']) {
      await expect(user.get(key)).rejects.toThrow('NOPERM')
      await expect(user.eval("return redis.call('GET', KEYS[1])", 1, key)).rejects.toThrow('NOPERM')
    }
    await expect(user.flushall()).rejects.toThrow('NOPERM')
    await expect(user.keys('*')).rejects.toThrow('NOPERM')
    await expect(user.config('GET', '*')).rejects.toThrow('NOPERM')
    await expect(user.script('FLUSH')).rejects.toThrow('NOPERM')
  })
})

async function setup(structure: StructureUse['structure']): Promise<{ port: number; user: Redis }> {
  const { port, stop } = await ownServer()
  const admin = new Redis(port)
  const rule = contract.structures[structure].acl.replaceAll('<namespace>', 'shop')
  await admin.call('ACL', 'SETUSER', 'worker', 'on', '>secret', ...rule.split(' '))
  const user = new Redis({ port, username: 'worker', password: 'secret' })
  onTestFinished(async () => {
    user.disconnect()
    admin.disconnect()
    await stop()
  })
  return { port, user }
}

async function ownServer(): Promise<{ port: number; stop(): Promise<void> }> {
  const server = await startRedis()
  return { port: server.port, stop: () => server.stop() }
}

async function asAdmin(port: number, steps: StructureUse['steps']): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const [, , run] of steps(await placeOn({ port }))) answers.push(await run())
  return answers
}
