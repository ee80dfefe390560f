// Lines for an output that may be full, closed or not read: a file on a full disk, a pipe, a terminal. They wait within
// a bound, and the loop never waits for them. Lines without room are counted, and their number is reported in their
// place.

import { constants, fstatSync, openSync, write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { promisify } from 'node:util'
import { within } from './within.ts'

/** Bytes that may wait for the output. */
const MOST_BYTES = 1024 * 1024
/** A full pipe is emptied by its reader; other failures take longer. */
const FULL_AGAIN_MS = 20
const FAILED_AGAIN_MS = 500
const CLOSING_PATIENCE_MS = 1000

export interface OutputTerms {
  /** The line that reports the number of missing lines. */
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
    this.#reportDropped()
    this.#add(line)
    this.#work ??= this.#writeAll()
  }

  /** Resolves when everything is written, or after a second. */
  async close(): Promise<void> {
    if (this.#work !== null) await within(CLOSING_PATIENCE_MS, this.#work)
  }

  #reportDropped(): void {
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
      if (this.#waiting.length === 0) this.#reportDropped()
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

  /** How many bytes were written; after a pause if none were. */
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
 * A pipe or a terminal is opened again if the system can: then no other process decides whether writing to it blocks. A
 * blocking write would also delay the end of this process.
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
