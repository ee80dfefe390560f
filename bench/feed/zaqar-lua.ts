// Our port of Zaqar's second algorithm, from its description: a script reads the side counter, adds the
// ids to the index and writes the counter, so that nothing has to begin again.

import { Redis } from 'ioredis'
import type { Poster } from './poster.ts'
import { COUNTER, INDEX, storeMessages, toMessages } from './zaqar-messages.ts'

/** KEYS: index, counter; ARGV: number of ids, ids. */
const ONE_EACH = `
local count, first = tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[2]) or 0)
for at = 1, count do
  redis.call('ZADD', KEYS[1], first + at - 1, ARGV[at + 1])
end
redis.call('SET', KEYS[2], first + count)
return first
`

const ONE_FOR_ALL = `
local count, first = tonumber(ARGV[1]), tonumber(redis.call('GET', KEYS[2]) or 0)
local members = {}
for at = 1, count do
  members[2 * at - 1] = first + at - 1
  members[2 * at] = ARGV[at + 1]
end
redis.call('ZADD', KEYS[1], unpack(members))
redis.call('SET', KEYS[2], first + count)
return first
`

export class LuaPoster implements Poster {
  readonly retries = 0
  readonly #client: Redis
  readonly #hash: string

  private constructor(client: Redis, hash: string) {
    this.#client = client
    this.#hash = hash
  }

  /** `zadd`: how many commands write the index. */
  static async open(port: number, zadd: 'one each' | 'one for all'): Promise<LuaPoster> {
    const client = new Redis(port)
    const hash = await client.script('LOAD', zadd === 'one each' ? ONE_EACH : ONE_FOR_ALL)
    return new LuaPoster(client, String(hash))
  }

  async post(bodies: readonly string[]): Promise<void> {
    const messages = toMessages(bodies)
    await storeMessages(this.#client.multi(), messages)
    const ids = messages.map(({ id }) => id)
    await this.#client.evalsha(this.#hash, 2, INDEX, COUNTER, ids.length, ...ids)
  }

  async close(): Promise<void> {
    this.#client.disconnect()
  }
}
