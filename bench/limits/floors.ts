// What no limiter can do without: a script call; and the least that counts, a script of INCR and EXPIRE.

import type { Redis } from 'ioredis'
import { type Contender, type Source, WINDOW_S } from './contender.ts'

const COUNT = `
local taken = redis.call('INCR', KEYS[1])
if taken == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return taken
`

export const emptyScript: Contender = toContender(
  'empty script',
  'the floor: a key, nothing done',
  'return 1',
)

export const countingScript: Contender = toContender(
  'INCR and EXPIRE in a script',
  'a fixed window that only counts',
  COUNT,
)

function toContender(name: string, settings: string, script: string): Contender {
  return {
    name,
    settings,
    async connect(connection: Redis): Promise<Source> {
      const hash = String(await connection.script('LOAD', script))
      const take = (subject: string): Promise<unknown> =>
        connection.evalsha(hash, 1, `floor:{${subject}}`, WINDOW_S)
      return { take, close: async () => {} }
    },
  }
}
