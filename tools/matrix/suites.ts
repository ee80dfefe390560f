// What runs on each server: filters of the test runner by name.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const SUITES: Readonly<Record<string, readonly string[]>> = {
  /** The scripts, by TypeScript and by Python. */
  vectors: ['test/conformance/'],
  /** Single servers, Sentinel and Cluster, with both clients. */
  drivers: ['src/drivers/', 'test/drivers/'],
  structures: structures(),
  rights: [
    'test/faults/denied-',
    'test/faults/hand-over-rights',
    'test/faults/least-privilege',
    'test/faults/lock-rights',
    'test/faults/no-publish-right',
    'test/faults/queue-rights',
    'test/faults/refused-writes',
  ],
  doctor: ['tools/doctor/'],
  /** The short form of `npm run fire`. */
  fire: ['test/fire/fire.test.ts'],
}

/** The tests beside the source of each structure that has scripts. */
function structures(): string[] {
  const names = readdirSync(join(root, 'lua')).filter((name) => existsSync(join(root, 'src', name)))
  return names.map((name) => `src/${name}/`)
}
