// The operations of the docs: ```lua seats/hold is compiled into ./seats.ts, which the snippets of its page import.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '../command/error.ts'
import { generate } from '../command/generate.ts'
import { blocksOf, pagesIn, textOf } from './pages.ts'

/** Writes the modules into a folder. What does not compile, as `page file:line problem`. */
export function writeModules(root: string, folder: string): string[] {
  return pagesIn(root, 'docs').flatMap((page) => {
    const operations = blocksOf(textOf(root, page)).flatMap(({ info, text }) => {
      const [, structure, name] = /^lua ([a-z-]+)\/([a-z-]+)$/.exec(info) ?? []
      return structure === undefined || name === undefined ? [] : [{ structure, name, text }]
    })
    for (const { structure, name, text } of operations) {
      const path = join(folder, `lua-${structure}`, structure)
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, `${name}.lua`), text)
    }
    const structures = [...new Set(operations.map(({ structure }) => structure))]
    return structures.flatMap((structure) =>
      compile(root, folder, structure).map((line) => `${page} ${line}`),
    )
  })
}

function compile(root: string, folder: string, structure: string): string[] {
  const out = join(folder, `${structure}.ts`)
  try {
    generate({ folder: join(folder, `lua-${structure}`), out, check: false, library: join(root, 'lua') })
    return []
  } catch (error) {
    if (error instanceof CommandError) return error.message.split('\n')
    throw error
  }
}
