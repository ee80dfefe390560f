// Lines for what may be full, gone, or not read: a file on a disk without room, a pipe, a terminal. They wait within a
// bound, the loop never waits for them, and those that have no room are counted, which is told where they would stand.

import { constants, fstatSync, openSync, write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import { within } from './within.ts'

/** So much may wait for what does not take it. */
const MOST_BYTES = 1024 * 1024
/** One that is full is emptied by its reader; what fails otherwise takes longer. */
const FULL_AGAIN_MS = 20
const FAILED_AGAIN_MS = 500
const CLOSING_PATIENCE_MS = 1000

export interface OutputTerms {
  /** The line that tells that so many are missing. */
  readonly dropped: (lines: number) => string
  readonly mostBytes?: number
}

export class Output {
  readonly #descriptor: number
  readonly #terms: Required<OutputTerms>
  #waiting: Buffer[] = []
  #bytes = 0
  #dropped = 0
  #work: Promise<void> | null = null

  constructor(descriptor: number, { dropped, mostBytes = MOST_BYTES }: OutputTerms) {
    this.#descriptor = neverBlocking(descriptor)
    this.#terms = { dropped, mostBytes }
  }

  /** `text` ends with its line. Never throws, and keeps no process alive. */
  write(text: string): void {
    const line = Buffer.from(text)
    if (this.#bytes > 0 && this.#bytes + line.length > this.#terms.mostBytes) {
      this.#dropped += 1
      return
    }
    this.#tellDropped()
    this.#add(line)
    this.#work ??= this.#writeAll()
  }

  /** Resolves when all is written, or after a second. */
  async close(): Promise<void> {
    if (this.#work !== null) await within(CLOSING_PATIENCE_MS, this.#work)
  }

  #tellDropped(): void {
    if (this.#dropped > 0) this.#add(Buffer.from(`${this.#terms.dropped(this.#dropped)}\n`))
    this.#dropped = 0
  }

  #add(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#writeBatch(Buffer.concat(this.#waiting.splice(0)))
      if (this.#waiting.length === 0) this.#tellDropped()
    }
    this.#work = null
  }

  async #writeBatch(batch: Buffer): Promise<void> {
    let rest = batch
    while (rest.length > 0) {
      const written = await this.#written(rest)
      rest = rest.subarray(written)
      this.#bytes -= written
    }
  }

  /** How much of it, after a while when there was none. */
  async #written(bytes: Buffer): Promise<number> {
    try {
      return (await promisify(write)(this.#descriptor, bytes)).bytesWritten
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      await sleep(isFull ? FULL_AGAIN_MS : FAILED_AGAIN_MS, undefined, { ref: false })
      return 0
    }
  }
}

/**
 * A pipe or a terminal is opened anew where the system can: whether writing to it blocks is then nobody else's choice, and a
 * process that ends waits for a write that does.
 */
function neverBlocking(descriptor: number): number {
  if (!isatty(descriptor) && !fstatSync(descriptor).isFIFO()) return descriptor
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    return openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return descriptor
  }
}
