// luacheck on the built scripts: only there are fragments together with their callers. Findings name
// the file and line in lua/ that they come from.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.mjs'
import { root } from './node-version.mjs'

const OPTIONS = [
  `--config=${join(root, '.luacheckrc')}`,
  '--codes',
  '--formatter=plain',
  '--ignore=211/[A-Z_]+', // a fragment may name what this script does not ask for
  '--no-max-line-length', // a constant may be longer than its name; the sources have their format
  '--ignore=43.', // a fragment's parameter may have the name of a key or argument: it stands for it
  '--ignore=41./refusal', // each `try` of a script has one
  '--ignore=42./refusal',
  '--no-max-comment-line-length', // the tags of a head are one a line
]

/** Resolves to `{ code, output }` as `run` does. */
export async function checkScripts() {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-lua-'))
  try {
    const written = await run(join(root, 'node_modules/.bin/tsx'), ['tools/readable-scripts.ts', folder])
    if (written.code !== 0) return written
    const { code, output } = await run('luacheck', [...OPTIONS, '.'], { cwd: folder })
    if (code > 2) return { code, output } // it could not check
    const findings = judge(output.trim().split('\n').filter(Boolean), JSON.parse(written.output))
    return { code: findings.length === 0 ? 0 : 1, output: findings.join('\n') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `linesOf`: of each script, where its lines come from. */
function judge(lines, linesOf) {
  const found = lines.map((line) => {
    const [, name, builtLine, message] = /^(?:\.\/)?(.+)\.lua:(\d+):\d+: (.*)$/.exec(line)
    return { ...placeOf(Number(builtLine), linesOf[name]), message }
  })
  const ours = found.filter((finding) => !isSpareFunction(finding))
  // A finding in a fragment is one finding, however many scripts include it.
  return [...new Set(ours.map(({ file, line, message }) => `${file}:${line} ${message}`))]
}

/** A script need not call every function of a fragment. */
function isSpareFunction({ file, message }) {
  return file.startsWith('lua/shared/') && message.startsWith('(W211) unused function')
}

/** `runs` are [line in the built text, file, line in the file], in order. */
function placeOf(builtLine, runs) {
  const [start, file, first] = runs.findLast(([from]) => from <= builtLine)
  return { file, line: first + builtLine - start }
}
