// Shared by the tests of counters under faults: a database with its table, and counters over it in this process or in
// others, each with connections of its own.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Duration, perilune } from 'perilune'
import type { Counters, CountersOptions } from 'perilune/counters'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished } from 'vitest'
import { tell } from '../proof.ts'
import { makeTables, patiently, stored as storedIn } from '../sinks/fixture.ts'
import { openMariadb, openPostgres, openSqlite, type Place } from '../sinks/places.ts'
import { type Address, type DatabaseKind, openSink } from './counters-address.ts'
import { Books } from './counters-books.ts'

/** What answers SQL. */
export type Runs = Pick<Place, 'run'>

export interface Terms {
  readonly redisPort: number
  /** Of the database. */
  readonly sqlPort: number
  /** Of calls. */
  readonly deadline: Duration
}

export interface Connected {
  readonly counters: Counters
  readonly client: Redis
}

export class Scene {
  readonly name: string = randomUUID()
  readonly books: Books = new Books()
  readonly place: Runs
  readonly address: Address
  readonly redisPort: number

  constructor(place: Runs, address: Address, redisPort: number) {
    this.place = place
    this.address = address
    this.redisPort = redisPort
  }

  /** The counters, as another process has them. */
  connect(options: Partial<CountersOptions> & Partial<Terms> = {}): Connected {
    const { redisPort = this.redisPort, sqlPort = this.address.port, deadline = '5s', ...rest } = options
    const client = new Redis({ port: redisPort, retryStrategy: () => 20 })
    client.on('error', () => undefined)
    const redis = perilune(ioredis(client), { namespace: 'faults', deadline })
    const { sink, close } = openSink({ ...this.address, port: sqlPort })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
      await close()
    })
    return { counters: redis.counters(this.name, { sink, fsyncGrace: '0s', ...rest }), client }
  }

  /** The content of the database, by id. */
  stored(): Promise<Record<string, string>> {
    return patiently(() => storedIn(this.place, 'items'))
  }

  /** At rest the database has each increment as often as it was acknowledged, and Redis shows what the database has. */
  async holds(what: string, counters: Counters): Promise<void> {
    await counters.flush()
    const { books } = this
    const stored = await this.stored()
    expect(books.faults(stored).slice(0, 10)).toEqual([])
    const shown = await counters.getMany(books.ids)
    expect(shown.map(String)).toEqual(books.ids.map((id) => stored[id] ?? '0'))
    expect(await counters.inspect()).toMatchObject({ dirty: 0, lagMs: null })
    const outcomes = (['acked', 'doubtful', 'refused'] as const).map((each) => `${books.count(each)} ${each}`)
    tell(`counters on ${this.address.kind}, ${what}: ${outcomes.join(', ')}`)
  }
}

export async function openScene(kind: DatabaseKind, redisPort: number = inject('redisPort')): Promise<Scene> {
  const { place, name } = await OPENERS[kind]()
  await makeTables(place)
  return new Scene(place, { kind, port: place.port, name }, redisPort)
}

const OPENERS: Readonly<Record<DatabaseKind, () => Promise<{ place: Place; name: string }>>> = {
  postgres: async () => {
    const place = await openPostgres()
    return { place, name: place.schema }
  },
  mariadb: async () => {
    const place = await openMariadb()
    return { place, name: place.schema }
  },
  sqlite: async () => {
    const place = await openSqlite()
    const [main] = await place.run('PRAGMA database_list')
    return { place, name: String(main?.['file']) }
  },
}
