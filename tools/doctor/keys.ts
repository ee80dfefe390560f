// A bounded look at the keys of Perilune.

import { isReply, type Link } from './link.ts'
import { MAIN_KEYS, type MainKey } from './layouts.ts'
import type { Node } from './node.ts'
import type { Server } from './server.ts'

const PAGE = 1000
const BATCH = 500

export interface KnownKey {
  readonly structure: string
  /** As the user wrote it. */
  readonly name: string
  readonly part: string
  /** The key up to its hash tag: what belongs together. */
  readonly unit: string
  readonly expires: boolean
  /** Null where the user may not run MEMORY USAGE. */
  readonly bytes: number | null
  /** Null where the key has none, or it was not read. */
  readonly layout: string | null
}

export interface KeyScan {
  readonly keys: readonly KnownKey[]
  /** Whether all keys of the server were seen. */
  readonly complete: boolean
}

/** Null where the user may not run SCAN. */
export function keysOf(server: Server): Promise<KeyScan | null> {
  return server.once('keys', () => scanAll(server))
}

async function scanAll(server: Server): Promise<KeyScan | null> {
  const nodes = server.served
  const budget = Math.ceil(server.options.scan / Math.max(1, nodes.length))
  try {
    const scans = await Promise.all(nodes.map((node) => scanNode(server, node, budget)))
    return { keys: scans.flatMap(({ keys }) => keys), complete: scans.every(({ complete }) => complete) }
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}

async function scanNode(server: Server, { link }: Node, budget: number): Promise<KeyScan> {
  const pattern = `${server.options.namespace}:{*`
  const names = new Set<string>()
  let cursor = '0'
  // SCAN may return keys twice, and looks at about as many keys as COUNT says.
  for (let seen = 0; seen < budget; seen += PAGE) {
    const count = Math.min(PAGE, budget - seen)
    const [next, page] = (await link.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', count)) as [
      string,
      string[],
    ]
    for (const name of page) names.add(name)
    cursor = String(next)
    if (cursor === '0') break
  }
  const keys: KnownKey[] = []
  const found = [...names].flatMap((name) => parsed(name, server.options.namespace) ?? [])
  for (let at = 0; at < found.length; at += BATCH)
    keys.push(...(await known(link, found.slice(at, at + BATCH))))
  return { keys, complete: cursor === '0' }
}

interface ParsedKey {
  readonly key: string
  readonly structure: string
  readonly name: string
  readonly part: string
  readonly unit: string
}

/** `perilune:{feed:room%3A7:12}:meta`. */
function parsed(key: string, namespace: string): ParsedKey | null {
  const [, tag, part] = /^\{([^}]*)\}:(.+)$/s.exec(key.slice(namespace.length + 1)) ?? []
  const [structure = '', name] = tag?.split(':') ?? []
  if (part === undefined || name === undefined) return null
  return { key, structure, name: decoded(name), part, unit: key.slice(0, key.length - part.length - 1) }
}

function decoded(name: string): string {
  return name.replaceAll(/%([0-9A-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}

async function known(link: Link, keys: readonly ParsedKey[]): Promise<KnownKey[]> {
  const [expiries, sizes, layouts] = await Promise.all([
    link.callAll(keys.map(({ key }) => ['PTTL', key])),
    link.callAll(keys.map(({ key }) => ['MEMORY', 'USAGE', key])),
    link.callAll(keys.map(layoutCommand)),
  ])
  return keys.flatMap(({ structure, name, part, unit }, at) => {
    const expiry = expiries[at]
    if (expiry === -2) return [] // it has expired meanwhile
    const size = sizes[at]
    return {
      structure,
      name,
      part,
      unit,
      // Where PTTL is refused, nothing is held against the key.
      expires: expiry !== -1,
      bytes: typeof size === 'number' ? size : null,
      layout: layoutIn(layouts[at], mainKeyOf({ structure, part })),
    }
  })
}

export function mainKeyOf({ structure, part }: Pick<KnownKey, 'structure' | 'part'>): MainKey | undefined {
  return MAIN_KEYS[structure]?.find((main) => main.part === part)
}

function layoutCommand(key: ParsedKey): readonly [string, ...(string | number)[]] {
  const main = mainKeyOf(key)
  if (main === undefined) return ['PING']
  return main.place === 'field' ? ['HGET', key.key, 'layout'] : ['GETRANGE', key.key, 0, 15]
}

function layoutIn(answer: unknown, main: MainKey | undefined): string | null {
  if (main === undefined || typeof answer !== 'string' || answer === '') return null
  if (main.place === 'field') return answer
  return main.place === 'word' ? (answer.split(' ', 1)[0] ?? '') : String(answer.charCodeAt(0))
}
