// How large the built package is, and a program that is bundled with some of it.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import manifest from '../../package.json' with { type: 'json' }
import { PROGRAMS, textOfProgram } from './programs.ts'

/** In bytes. */
export interface Size {
  readonly name: string
  readonly minified: number
  readonly gzip: number
}

export interface Bundle extends Size {
  readonly text: string
}

/** All programs, bundled with what is built: minified, without what they do not use, the clients left out. */
export function bundles(root: string): Promise<Bundle[]> {
  const alias = builtFiles(root)
  return Promise.all(
    PROGRAMS.map(async (program) => {
      const { outputFiles } = await build({
        stdin: { contents: textOfProgram(program), resolveDir: root },
        bundle: true,
        minify: true,
        treeShaking: true,
        format: 'esm',
        platform: 'node',
        target: 'node20.19',
        external: ['ioredis', 'redis'],
        alias,
        // Those of the project lead public names to the sources.
        tsconfigRaw: {},
        write: false,
      })
      const { contents, text } = outputFiles[0] ?? { contents: new Uint8Array(), text: '' }
      return { name: program.name, minified: contents.length, gzip: gzipSync(contents).length, text }
    }),
  )
}

/** What `npm pack` would put into the archive, unpacked and packed. */
export function packageSize(root: string): Size {
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 24,
  })
  const [archive] = JSON.parse(report) as [{ unpackedSize: number; size: number }]
  return { name: 'the package', minified: archive.unpackedSize, gzip: archive.size }
}

/** Public names and the modules that programs find there. */
function builtFiles(root: string): Record<string, string> {
  const built = Object.entries(manifest.exports).flatMap(([name, target]): [string, string][] =>
    typeof target === 'string' ? [] : [[name.replace('.', 'perilune'), join(root, target.default)]],
  )
  // The first that begins a name is taken.
  return Object.fromEntries(built.toReversed().toSorted(([one], [next]) => next.length - one.length))
}
