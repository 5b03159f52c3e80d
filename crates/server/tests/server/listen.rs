use materia_server::{Listen, ListenError};

#[test]
fn only_this_machine_can_call() {
    for good in ["127.0.0.1:0", "127.0.0.1:8080", "[::1]:80", "localhost:1234", "unix:/x/y"] {
        assert!(Listen::parse(good).is_ok(), "{good}");
    }
    for open in ["0.0.0.0:80", "192.168.1.1:80", "[::]:80", "8.8.8.8:1", "127.0.0.2:80"] {
        let said = Listen::parse(open).unwrap_err().to_string();
        assert!(said.contains("SSH tunnel"), "{said}");
    }
    for bad in ["", "80", "example.com:80", "127.0.0.1", "unix:", "localhost:x"] {
        assert!(matches!(Listen::parse(bad), Err(ListenError::NoAddress(_))), "{bad}");
    }
}
