// luacheck on the built scripts: only there are fragments together with what uses them. Findings are
// told by the file and line in lua/ that they come from.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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
  const { operations } = JSON.parse(readFileSync(join(root, 'lua/contract.json'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'perilune-lua-'))
  try {
    for (const [name, { source }] of Object.entries(operations))
      writeScript(join(folder, `${name}.lua`), source)
    const { code, output } = await run('luacheck', [...OPTIONS, '.'], { cwd: folder })
    if (code > 2) return { code, output } // it could not check
    const findings = judge(output.trim().split('\n').filter(Boolean), operations)
    return { code: findings.length === 0 ? 0 : 1, output: findings.join('\n') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeScript(file, source) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, source)
}

function judge(lines, operations) {
  const found = lines.map((line) => {
    const [, name, builtLine, message] = /^(?:\.\/)?(.+)\.lua:(\d+):\d+: (.*)$/.exec(line)
    return { ...placeOf(Number(builtLine), operations[name].lines), message }
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
