// A process that takes all the jobs it can get, keeps their leases, and never ends one.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

export interface HoarderOrder {
  port: number
  name: string
  concurrency: number
  leaseMs: number
}

const { port, name, concurrency, leaseMs }: HoarderOrder = JSON.parse(process.argv[2] ?? '')
process.once('disconnect', () => process.exit(1)) // its parent has died

const redis = perilune(ioredis(new Redis(port)), { deadline: '20s' })
redis.queue(name).work(() => new Promise(() => undefined), { concurrency, lease: `${leaseMs}ms` })
