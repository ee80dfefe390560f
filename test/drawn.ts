// What a property with this seed has drawn it draws again; see tools/setup/run-twice.mjs.

import * as fc from 'fast-check'

fc.configureGlobal({ seed: Number(process.env['PERILUNE_DRAWN']) })
