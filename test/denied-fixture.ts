// Shared by the tests of missing rights: a server of their own, and a user whose rights are taken away temporarily.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished } from 'vitest'
import { startRedis } from './servers/redis.ts'

export interface Scene {
  readonly redis: Perilune
  readonly name: string
  /** A client with all rights, to read the stored data. */
  readonly admin: Redis
  /** Whether the call was refused without the right to this command. */
  without(command: string, call: () => Promise<unknown>): Promise<boolean>
}

export async function setup(): Promise<Scene> {
  const server = await startRedis()
  const admin = new Redis(server.port)
  await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all')
  const client = new Redis({ port: server.port, username: 'app', password: 'secret' })
  const redis = perilune(ioredis(client))
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    admin.disconnect()
    await server.stop()
  })
  const without: Scene['without'] = async (command, call) => {
    await admin.call('ACL', 'SETUSER', 'app', `-${command}`)
    const failure = await call().then(
      () => null,
      (error: unknown) => error,
    )
    await admin.call('ACL', 'SETUSER', 'app', `+${command}`)
    if (failure !== null) expect(failure).toMatchObject({ code: 'forbidden' })
    return failure !== null
  }
  return { redis, name: randomUUID(), admin, without }
}
