// Shared by the tests of queues in partitions: a queue of its own for each.

import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { type Driver, type PartitionedQueue, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import { partitionOf } from '../src/runtime/partitions/partition-hash.ts'
import { counting } from './counting-driver.ts'
import type { Payloads } from './queue-fixture.ts'

export interface Setup {
  queue: PartitionedQueue<Payloads>
  redis: Perilune
  name: string
  /** The scripts that were called through `redis` so far. */
  calls: readonly string[]
  /** As in another process. */
  again(partitions?: number): PartitionedQueue<Payloads>
}

interface Place {
  partitions?: number
  cluster?: boolean
}

export function setup({ partitions = 4, cluster = false }: Place = {}): Setup {
  const name = randomUUID()
  const calls: string[] = []
  const redis = connect(cluster, (driver) => counting(driver, calls))
  return {
    queue: redis.queue<Payloads>(name, { partitions }),
    redis,
    name,
    calls,
    again: (count = partitions) => connect(cluster).queue<Payloads>(name, { partitions: count }),
  }
}

function connect(cluster: boolean, wrap = (driver: Driver): Driver => driver): Perilune {
  const client = cluster
    ? new Cluster(inject('clusterPorts').map((port) => ({ host: '127.0.0.1', port })))
    : new Redis(inject('redisPort'))
  const redis = perilune(wrap(ioredis(client)), { namespace: 'partitioned-queue-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

/** A group of each partition. */
export function groupsFor(count: number): string[] {
  const groups: string[] = []
  for (let n = 0; groups.filter(Boolean).length < count; n++) {
    groups[partitionOf(`group ${n}`, count)] ??= `group ${n}`
  }
  return groups
}

export function mails(count: number, options: object = {}): { name: 'mail'; payload: { to: string } }[] {
  return Array.from({ length: count }, (_, at) => ({
    name: 'mail' as const,
    payload: { to: `${at}` },
    ...options,
  }))
}
