// A server that was reached, with what it says about itself.

import { type Place, showPlace } from './address.ts'
import { isReply, type Link } from './link.ts'

export type Role = 'primary' | 'replica' | 'sentinel' | 'unknown'

export type Range = readonly [first: number, last: number]

/** The fields of INFO. */
export type Info = ReadonlyMap<string, string>

export class Node {
  readonly link: Link
  /** Null where the user may not run INFO. */
  readonly info: Info | null
  /** Of a primary of a cluster; empty otherwise. */
  readonly slots: readonly Range[]
  readonly #role: Role | null

  constructor(link: Link, info: Info | null, role: Role | null = null, slots: readonly Range[] = []) {
    this.link = link
    this.info = info
    this.#role = role
    this.slots = slots
  }

  get place(): Place {
    return this.link.place
  }

  get name(): string {
    return showPlace(this.place)
  }

  get role(): Role {
    // Valkey calls it server_mode.
    if ((this.info?.get('redis_mode') ?? this.info?.get('server_mode')) === 'sentinel') return 'sentinel'
    const role = this.info?.get('role')
    if (role === 'master') return 'primary'
    if (role === 'slave') return 'replica'
    return this.#role ?? 'unknown'
  }

  /** NaN where INFO has no such field. */
  number(field: string): number {
    return Number(this.info?.get(field) ?? Number.NaN)
  }

  /** Null where the server refuses CONFIG, as many managed ones do. */
  async config(name: string): Promise<string | null> {
    try {
      const answer = await this.link.call('CONFIG', 'GET', name)
      return Array.isArray(answer) && answer.length > 1 ? String(answer[1]) : null
    } catch (error) {
      if (isReply(error)) return null
      throw error
    }
  }
}

/** Null where the user may not run INFO. */
export async function infoOf(link: Link): Promise<Info | null> {
  try {
    return fieldsOf(String(await link.call('INFO')))
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}

/** The lines `name:value` of INFO and CLUSTER INFO. */
export function fieldsOf(text: string): Info {
  return new Map(
    text
      .split(/\r?\n/)
      .filter((line) => line.includes(':') && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  )
}
