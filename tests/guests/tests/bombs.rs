//! Modules that are small or cheap to write and dear to parse, to check or to compile are refused by counting, before anybody compiles
//! them: here nothing could.

use plimsoll_guests::{BOMBS, handmade};
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policy::{Compiler, Engine, EngineSettings, Helper};

#[test]
fn bombs_are_refused_by_counting_where_nobody_could_compile_them() {
    // Whatever came as far as the compiler would be refused as `CompilerMissing`.
    let nobody = Helper::new("/nowhere/compiler");
    let engine = Engine::new(EngineSettings {
        compiler: Compiler::Child(nobody),
        ..EngineSettings::default()
    })
    .unwrap();
    let refused = |bytes: &[u8]| {
        engine
            .accept(bytes, &PolicySettings::new())
            .unwrap_err()
            .reason()
    };
    for (name, reason) in BOMBS {
        assert_eq!(refused(handmade(name).unwrap()), reason, "{name}");
    }
    let ten_megabytes = [&b"\0asm\x0d\0\x01\0"[..], &vec![0; 10 << 20]].concat();
    assert_eq!(refused(&ten_megabytes), "TooLarge");
    // A block of 128 KiB of zeros, which takes 4 bytes.
    let inflates = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 2, 0, 0x03, 0, 0x10, 0];
    assert_eq!(refused(&inflates), "CompressionRefused");
    assert_eq!(refused(handmade("gives-away").unwrap()), "CompilerMissing");
}
