// Shared by the tests of users who lack a right: on one server instances of a user who may lose rights, and of one who
// may do everything.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { onTestFinished } from 'vitest'

export interface Users {
  /** From now on the limited user has all rights, changed by these rules of Redis. */
  allow(...rules: string[]): Promise<unknown>
  /** An instance of the limited user, with a connection of its own, which ends with the test. */
  limited(): Perilune
  /** The same for a user who may do everything. */
  full(): Perilune
  /** Names nothing else on the server. */
  readonly name: string
}

/** `admin`: a client of a user who may do everything, on the server at this port. */
export function usersOn(port: number, admin: Redis): Users {
  const user = `user-${randomUUID()}`
  const allow: Users['allow'] = (...rules) =>
    admin.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', '~*', '&*', '+@all', ...rules)
  const connect = (options: { username?: string; password?: string }): Perilune => {
    const client = new Redis(port, options)
    const redis = perilune(ioredis(client), { namespace: 'rights' })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
    })
    return redis
  }
  const limited = (): Perilune => connect({ username: user, password: 'secret' })
  return { allow, limited, full: () => connect({}), name: randomUUID() }
}
