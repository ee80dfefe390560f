// The steps of a flush, as messages between its process and the servers: where a test can stop it.

import { ack, seal } from '../../src/generated/counters.ts'
import { mysqlPackets, postgresPackets } from '../servers/packets.ts'
import { RequestReader } from '../servers/requests.ts'
import type { DatabaseKind } from './counters-address.ts'
import { type CountersProcess, startProcess } from './counters-process.ts'
import type { Scene } from './counters-scene.ts'
import { type Caught, setTrap, type Trap, type When } from './trap.ts'

export interface Step {
  readonly what: string
  readonly at: 'redis' | 'sql'
  readonly matching: RegExp
  readonly when: When
  /** The statement that SQLite gets there. */
  readonly sql?: string
  /** The held command continues, and the process waits until the batch has settled. */
  readonly isSettling?: boolean
}

const SEAL = new RegExp(seal.script.sha1)
const ACK = new RegExp(ack.script.sha1)
/** Not the COMMITTED of an isolation level. */
const COMMIT = /\WCOMMIT\0?$/

export const STEPS: readonly Step[] = [
  { what: 'before it seals', at: 'redis', matching: SEAL, when: 'before' },
  { what: 'after it sealed', at: 'redis', matching: SEAL, when: 'after' },
  { what: 'while a batch settles', at: 'redis', matching: SEAL, when: 'after', isSettling: true },
  { what: 'in its transaction', at: 'sql', matching: /\Witems\W/, when: 'before', sql: '"items"' },
  { what: 'before COMMIT', at: 'sql', matching: COMMIT, when: 'before', sql: 'COMMIT' },
  { what: 'after COMMIT', at: 'sql', matching: COMMIT, when: 'after', sql: 'COMMIT' },
  { what: 'before it acks', at: 'redis', matching: ACK, when: 'before' },
  { what: 'after it acked', at: 'redis', matching: ACK, when: 'after' },
]

const READERS = { postgres: postgresPackets, mariadb: mysqlPackets } as const

/** Proxies before both servers of a scene; none before a file. */
export interface Traps {
  readonly redis: Trap
  readonly sql: Trap | undefined
}

export async function setTraps({ redisPort, address }: Scene): Promise<Traps> {
  const redis = await setTrap(redisPort, () => new RequestReader())
  return { redis, sql: await trapOf(address.kind, address.port) }
}

async function trapOf(kind: DatabaseKind, port: number): Promise<Trap | undefined> {
  return kind === 'sqlite' ? undefined : setTrap(port, READERS[kind])
}

/** A process that was ordered to flush, and stands at this step. */
export interface Standing {
  readonly process: CountersProcess
  /** Undefined when no command of it is held, and it will not continue. */
  readonly caught: Caught | undefined
}

/** Orders a process to flush, and waits until it stands at this step. */
export async function flushUntil(scene: Scene, traps: Traps, step: Step): Promise<Standing> {
  const [redisPort, sqlPort] = [traps.redis.port, traps.sql?.port ?? 0]
  const fsyncGrace = step.isSettling === true ? '1h' : '0s'
  if (step.at === 'sql' && traps.sql === undefined) {
    const standsAt = { sql: step.sql ?? '', when: step.when }
    const process = await startProcess(scene, { redisPort, standsAt })
    process.tell({ do: 'flush' })
    await process.says('at')
    return { process, caught: undefined }
  }
  const process = await startProcess(scene, { redisPort, sqlPort, fsyncGrace })
  const caught = traps[step.at]?.stopAt(step.matching, step.when)
  process.tell({ do: 'flush' })
  return { process, caught: await caught }
}
