"""Ways of writing that need system calls. Run as: python3 -I -S -c THIS way [victim's pid, fd, address]

Each function tries one way and may raise; the test looks at the tree, not at the exit code. The
folder is the project; `src/main.rs` is what must not change, `docs` is what may.
"""
import ctypes, fcntl, mmap, os, struct, sys, time

CODE, NOTE = "src/main.rs", "docs/note.md"
BAD = b"changed"
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def syscall(number, *arguments):
    return checked(libc.syscall(ctypes.c_long(number), *arguments))


def write_all(path, flags=os.O_WRONLY, dir_fd=None):
    fd = os.open(path, flags, 0o644, dir_fd=dir_fd)
    os.write(fd, BAD)
    os.close(fd)


# Opening.
def open_wronly(): write_all(CODE)
def open_rdwr(): write_all(CODE, os.O_RDWR)
def open_append(): write_all(CODE, os.O_WRONLY | os.O_APPEND)
def open_rdonly_trunc(): os.open(CODE, os.O_RDONLY | os.O_TRUNC)
def open_create(): write_all("src/new.rs", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
def open_create_rdonly(): os.open("src/new.rs", os.O_RDONLY | os.O_CREAT)
def open_direct(): write_all(CODE, os.O_WRONLY | os.O_SYNC)
def open_dir_fd(): write_all("main.rs", dir_fd=os.open("src", os.O_RDONLY))
def open_dir_fd_of_docs(): write_all("../src/main.rs", dir_fd=os.open("docs", os.O_RDONLY))
def open_path_then_proc(): write_all(f"/proc/self/fd/{os.open(CODE, os.O_PATH)}")
def open_rdonly_then_proc(): write_all(f"/proc/self/fd/{os.open(CODE, os.O_RDONLY)}")


def open_fchdir():
    os.fchdir(os.open("src", os.O_RDONLY))
    write_all("main.rs")


def openat2():
    how = struct.pack("QQQ", os.O_WRONLY | os.O_TRUNC, 0, 0)
    os.write(syscall(437, -100, CODE.encode(), how, ctypes.c_size_t(len(how))), BAD)


def open_by_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    checked(libc.name_to_handle_at(-100, CODE.encode(), handle, ctypes.byref(mount), 0))
    at = os.open(".", os.O_RDONLY)
    os.write(checked(libc.open_by_handle_at(at, handle, os.O_WRONLY)), BAD)


# Names.
def link_fd(fd, name):
    checked(libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, name.encode(), 0x400))


def tmpfile_of_docs_linked_out():
    fd = os.open("docs", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, BAD)
    link_fd(fd, "src/new.rs")


def tmpfile_outside_linked():
    fd = os.open("src", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, BAD)
    link_fd(fd, "src/new.rs")


def renameat2(old, new, flags):
    checked(libc.renameat2(-100, old.encode(), -100, new.encode(), flags))


def rename_exchange(): renameat2(NOTE, CODE, 2)
def rename_exchange_outside(): renameat2("src/module.py", CODE, 2)
def rename_noreplace(): renameat2(NOTE, "src/new.md", 1)
def rename_whiteout(): renameat2(CODE, "docs/taken.rs", 4)
def rename_over(): os.rename(NOTE, CODE)
def rename_out_of_src(): os.rename(CODE, "docs/taken.rs")
def rename_folder(): os.rename("src", "docs/src")
def rename_docs_away(): os.rename("docs", "moved")
def rename_folder_onto_empty(): os.rename("docs/deep", "empty")
def link_in_then_write():
    os.link(CODE, "docs/hard")
    write_all("docs/hard")
def link_by_fd_then_write():
    link_fd(os.open(CODE, os.O_RDONLY), "docs/hard")
    write_all("docs/hard")
def link_out(): os.link(NOTE, "src/new.md")
def symlink_then_write():
    os.symlink("../" + CODE, "docs/mine")
    write_all("docs/mine")
def symlink_chain_then_write():
    os.symlink("dir", "docs/one")
    os.symlink("one/main.rs", "docs/two")
    write_all("docs/two")
def symlink_absolute_then_create():
    os.symlink(os.path.abspath("src/new.rs"), "docs/mine")
    write_all("docs/mine", os.O_WRONLY | os.O_CREAT)
def symlink_made_outside(): os.symlink("main.rs", "src/new.rs")
def mknod_file(): os.mknod("src/new.rs")
def mknod_fifo(): os.mkfifo("src/pipe")
def mknod_device(): os.mknod("src/null", 0o020666, os.makedev(1, 3))
def socket_bound():
    import socket
    socket.socket(socket.AF_UNIX).bind("src/socket")
def unlink(): os.unlink(CODE)
def rmdir(): os.rmdir("empty")
def mkdir(): os.mkdir("src/new")
def swap_while_writing():
    # The name is a file of ours when looked at and a link out when opened.
    os.symlink("note.md", "docs/swap")
    swapper = os.fork()
    while swapper == 0:
        for target in ("note.md", "../" + CODE):
            os.symlink(target, "docs/swap.new")
            os.rename("docs/swap.new", "docs/swap")
    for _ in range(2000):
        try:
            write_all("docs/swap")
        except OSError:
            pass
    os.kill(swapper, 9)


# Contents, without `write`.
def mmap_shared():
    with open(CODE, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:4] = BAD[:4]
def mmap_of_a_reading_fd():
    fd = os.open(CODE, os.O_RDONLY)
    mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[:4] = BAD[:4]
def truncate(): os.truncate(CODE, 0)
def truncate_longer(): os.truncate(CODE, 1000)
def ftruncate_of_a_reading_fd(): os.ftruncate(os.open(CODE, os.O_RDONLY), 0)
def fallocate(): os.posix_fallocate(os.open(CODE, os.O_WRONLY), 0, 5000)
def punch_hole():
    fd = os.open(CODE, os.O_RDWR)
    checked(libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(4)))
def sendfile(): os.sendfile(os.open(CODE, os.O_WRONLY), os.open(NOTE, os.O_RDONLY), 0, 4)
def copy_range():
    os.copy_file_range(os.open(NOTE, os.O_RDONLY), os.open(CODE, os.O_WRONLY), 4)
def splice():
    reading, writing = os.pipe()
    os.write(writing, BAD)
    os.splice(reading, os.open(CODE, os.O_WRONLY), 4)
def pwritev(): os.pwritev(os.open(CODE, os.O_WRONLY), [BAD], 0)
def clone_file(): fcntl.ioctl(os.open(CODE, os.O_WRONLY), 0x40049409, os.open(NOTE, os.O_RDONLY))


def io_uring():
    """Opens and writes through a ring; the kernel's own workers do it for us."""
    params = ctypes.create_string_buffer(120)
    ring = syscall(425, 4, params)
    (entries, _, _, _, _, features, _) = struct.unpack_from("7I", params)
    submission = struct.unpack_from("10I", params, 40)
    completion = struct.unpack_from("10I", params, 80)
    single = mmap.mmap(ring, max(submission[6] + entries * 4, completion[5] + 2 * entries * 16),
                       mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=0)
    sqes = mmap.mmap(ring, entries * 64, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE,
                     offset=0x10000000)
    def submit(opcode, fd, address, length, offset, flags):
        sqe = struct.pack("BBHiQQII", opcode, 0, 0, fd, offset, address, length, flags)
        sqes[0:64] = sqe.ljust(64, b"\0")
        (tail,) = struct.unpack_from("I", single, submission[1])
        struct.pack_into("I", single, submission[6] + 4 * (tail % entries), 0)
        struct.pack_into("I", single, submission[1], tail + 1)
        syscall(426, ring, 1, 1, 1, None, 0)
        (head,) = struct.unpack_from("I", single, completion[0])
        (mask,) = struct.unpack_from("I", single, completion[2])
        result = struct.unpack_from("Qi", single, completion[5] + 16 * (head & mask))[1]
        struct.pack_into("I", single, completion[0], head + 1)
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result
    name, content = ctypes.create_string_buffer(CODE.encode()), ctypes.create_string_buffer(BAD)
    fd = submit(18, -100, ctypes.addressof(name), 0o644, 0, os.O_WRONLY)
    submit(23, fd, ctypes.addressof(content), len(BAD), 0, 0)


# Processes.
def in_a_thread():
    import threading
    thread = threading.Thread(target=open_wronly)
    thread.start()
    thread.join()
def in_a_fork():
    if os.fork() == 0:
        open_wronly()
    os.wait()
def spawned(): os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", f"echo x > {CODE}"], {}), 0)
def daemon_waited_for():
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                open_wronly()
            finally:
                os.write(writing, b"x")
                os._exit(0)
        os._exit(0)
    os.read(reading, 1)
def daemon_later():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(10):
                try:
                    os.close(fd)
                except OSError:
                    pass
            time.sleep(0.2)
            open_wronly()
        os._exit(0)
def after_killing_the_supervisor():
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.2)
        open_wronly()
        os._exit(0)
    os.kill(os.getppid(), 9)
    time.sleep(0.1)
def by_the_supervisors_folder(): write_all(f"/proc/{os.getppid()}/root{os.path.abspath(CODE)}")


# Roots, mounts and namespaces.
def chroot():
    os.chroot(".")
    write_all("/" + CODE)
def user_namespace():
    checked(libc.unshare(0x10000000))
    write_all(CODE)
def bound_beneath_docs():
    if os.geteuid() != 0:
        checked(libc.unshare(0x10000000))
    checked(libc.unshare(0x00020000))
    checked(libc.mount(b"none", b"/", None, 0x44000, None))
    checked(libc.mount(os.path.abspath("src").encode(), os.path.abspath("docs/deep").encode(), None,
                       0x1000, None))
    write_all("docs/deep/main.rs")
def tree_of_its_own(): write_all("main.rs", dir_fd=syscall(428, -100, b"src", 1))
def tree_moved_beneath_docs():
    checked(libc.unshare(0x00020000))
    checked(libc.mount(b"none", b"/", None, 0x44000, None))
    syscall(429, syscall(428, -100, b"src", 1), b"", -100, b"docs/deep", 4)
    write_all("docs/deep/main.rs")


# Somebody outside the sandbox who has the file open and mapped.
def victim(): return int(sys.argv[2])
def victims_folder(): write_all(f"/proc/{victim()}/cwd/{CODE}")
def victims_root(): write_all(f"/proc/{victim()}/root{os.path.abspath(CODE)}")
def victims_fd(): write_all(f"/proc/{victim()}/fd/{sys.argv[3]}")
def victims_fd_taken():
    os.write(syscall(438, os.pidfd_open(victim()), int(sys.argv[3]), 0), BAD)
def victims_namespace():
    syscall({"x86_64": 308, "aarch64": 268}[os.uname().machine],
            os.open(f"/proc/{victim()}/ns/mnt", os.O_RDONLY), 0)
    write_all(os.path.abspath(CODE))
def victims_memory_file():
    with open(f"/proc/{victim()}/mem", "r+b", buffering=0) as memory:
        memory.seek(int(sys.argv[4]))
        memory.write(BAD)
def victims_memory():
    class Iovec(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    mine = ctypes.create_string_buffer(BAD)
    local, remote = Iovec(ctypes.addressof(mine), 4), Iovec(int(sys.argv[4]), 4)
    checked(libc.process_vm_writev(victim(), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0))
def victim_traced():
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    checked(libc.ptrace(16, victim(), 0, 0))
    os.waitpid(victim(), 0)
    checked(libc.ptrace(5, victim(), int(sys.argv[4]), int.from_bytes(b"changed!", "little")))


# Files that others keep.
def journal_changed():
    import sqlite3
    base = sqlite3.connect(".materia/journal.db")
    base.execute("create table more (x)")
    base.commit()
def imported_module_cached():
    sys.dont_write_bytecode = False
    sys.path.insert(0, "src")
    import module
def inherited_descriptors():
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").endswith(CODE):
                os.write(int(name), BAD)
        except OSError:
            pass


if sys.argv[1] == "victim":
    file = open(CODE, "r+b")
    mapped = mmap.mmap(file.fileno(), 0)
    address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    print(os.getpid(), file.fileno(), address, flush=True)
    sys.stdin.read()
    os._exit(0)
if sys.argv[1] == "each":
    # One way and its project on each line; a process for each, but only one interpreter.
    for line in sys.stdin:
        way, folder = line.rstrip("\n").split(" ", 1)
        if os.fork() == 0:
            try:
                os.chdir(folder)
                globals()[way]()
            finally:
                os._exit(0)
        os.wait()
    os._exit(0)
globals()[sys.argv[1]]()
