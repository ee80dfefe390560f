import type { Redis } from 'ioredis'
import type { Row } from '../harness/print.ts'
import type { Log } from './contender.ts'
import { keyBytes, usedBytes } from './memory.ts'

const BODY = 'perilune '.repeat(12).slice(0, 100)

const STEP = 1000

export interface Filled {
  readonly name: string
  readonly log: Log
  /** Some from all over the log; a full page follows each. */
  readonly markers: readonly string[]
  readonly memory: Row
}

/** Bodies of 100 bytes. */
export function bodies(count: number): string[] {
  return Array.from({ length: count }, () => BODY)
}

/** Fills an empty log with `size` messages and measures what they occupy. */
export async function fill(client: Redis, name: string, log: Log, size: number): Promise<Filled> {
  const before = await usedBytes(client)
  const markers: string[] = []
  for (let at = 0; at < size; at += STEP) {
    const added = await log.append(bodies(STEP))
    // The page after the last of these ends with the step.
    markers.push(...added.slice(0, STEP - 20).filter((_, place) => place % 50 === 0))
  }
  const used = (await usedBytes(client)) - before
  const memory = {
    variant: name,
    bytesPerMessage: (await keyBytes(client, log.prefix)) / size,
    allocatedPerMessage: used / size,
  }
  return { name, log, markers, memory }
}
