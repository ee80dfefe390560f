// The log of an app under test, and what it must not contain.

import type { LogTarget } from '../http/fastify.ts'

interface LogLine {
  readonly level: number
  /** Present in lines about requests. */
  readonly reqId?: string
}

const INFO = 30

export class Logged implements LogTarget {
  readonly #texts: string[] = []

  write(line: string): void {
    this.#texts.push(line)
  }

  /** The lines about requests. */
  get lines(): LogLine[] {
    return this.#texts.map((text) => JSON.parse(text) as LogLine).filter(({ reqId }) => reqId !== undefined)
  }

  /** The lines that no valid request causes in a healthy service. */
  get alarms(): LogLine[] {
    return this.lines.filter(({ level }) => level > INFO)
  }

  has(text: string): boolean {
    return this.#texts.some((line) => line.includes(text))
  }
}
