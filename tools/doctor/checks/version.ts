import type { Check } from '../check.ts'
import { fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import type { Node } from '../node.ts'
import { type Engine, engineOf, FAULTS, isBefore } from '../versions.ts'

/** See README.md, Servers and clients. */
const OLDEST: Readonly<Record<string, string>> = { Redis: '6.2.0', Valkey: '7.2.0' }

export const version: Check = {
  id: 'version',
  title: 'Engine and version',
  essential: true,
  async examine({ nodes }) {
    const found = await overNodes(nodes, ofNode)
    const versions = new Set(nodes.map(({ info }) => (info === null ? '' : label(engineOf(info)))))
    if (versions.size < 2 || found.state !== 'ok') return found
    return warn(
      `The nodes run different versions. ${found.why}`,
      'Bring all nodes to one version.',
      found.details,
    )
  },
}

function label(engine: Engine | null): string {
  return engine === null ? '' : `${engine.name} ${engine.version}`
}

function ofNode({ info }: Node): Finding {
  const engine = info === null ? null : engineOf(info)
  if (engine === null) {
    return unknown('The user may not run INFO, so the version is not known.', 'Grant +info.')
  }
  return ofEngine(engine)
}

export function ofEngine(engine: Engine): Finding {
  const name = label(engine)
  const oldest = OLDEST[engine.name]
  const details = { engine: engine.name, version: engine.version }
  if (oldest === undefined) {
    const why = `This is ${name}. Perilune is made for Redis and Valkey, and no test runs on ${engine.name}.`
    return warn(why, 'Run the test suite of your program on it, or use Redis or Valkey.', details)
  }
  if (isBefore(engine.version, oldest)) {
    const since = oldest.replace(/\.0$/, '')
    return fail(
      `This is ${name}; Perilune needs ${engine.name} ${since}.`,
      `Upgrade to ${since} or newer.`,
      details,
    )
  }
  const faults = FAULTS.filter((fault) => fault.affects(engine))
  const why = [`This is ${name}.`, ...faults.map((fault) => fault.why)].join(' ')
  const known = { ...details, faults: faults.map(({ id, source }) => ({ id, source })) }
  const mend = faults.filter(({ weight }) => weight === 'warn').map((fault) => fault.mend)
  return mend.length === 0 ? ok(why, known) : warn(why, mend.join(' '), known)
}
