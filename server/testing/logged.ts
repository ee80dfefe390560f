// The log of an app under test, and what may not stand in it.

import type { LogTarget } from '../http/fastify.ts'

interface LogLine {
  readonly level: number
  /** Of lines about requests. */
  readonly reqId?: string
}

const INFO = 30

export class Logged implements LogTarget {
  readonly #texts: string[] = []

  write(line: string): void {
    this.#texts.push(line)
  }

  /** About requests. */
  get lines(): LogLine[] {
    return this.#texts.map((text) => JSON.parse(text) as LogLine).filter(({ reqId }) => reqId !== undefined)
  }

  /** What no request has a service write that does as it should. */
  get alarms(): LogLine[] {
    return this.lines.filter(({ level }) => level > INFO)
  }

  has(text: string): boolean {
    return this.#texts.some((line) => line.includes(text))
  }
}
